def command() -> None:
    """X."""
