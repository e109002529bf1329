"""The schema's versions, run by Alembic. Each is a folder of SQL files beside a file that names them in order."""
