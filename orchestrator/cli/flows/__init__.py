"""`orchestrator flow …` and `orchestrator task …`: what a person does with tasks that have no card."""
