#!/bin/sh
# The entry point of the image: `worker QUEUE...`, `beat`, `flower`, or any other command as it stands.
# Every branch ends in exec: the program itself gets SIGTERM; a shell in between would swallow it.
set -eu

case ${1:?expected worker QUEUE..., beat, flower, or a command} in
worker)
    shift
    queues=$(IFS=,; printf %s "$*")
    exec celery -A orchestrator worker --queues "${queues:?expected the queues to serve}" \
        --loglevel INFO --task-events --without-gossip --without-mingle
    ;;
beat) exec celery -A orchestrator beat --loglevel INFO ;;
# On all addresses of the container; Compose publishes the port on the host's loopback only. Flower takes the name and the
# password from FLOWER_BASIC_AUTH, where no list of processes shows them, and would be open without.
flower)
    : "${FLOWER_BASIC_AUTH:?set it to name:password; Flower shows what runs to everybody otherwise}"
    exec celery -A orchestrator flower --address=0.0.0.0 --port=5555 --read-only
    ;;
*) exec "$@" ;;
esac
