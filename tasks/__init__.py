"""What Celery calls: one short file each, no decisions. Every Celery task takes ids and re-derives the rest."""
