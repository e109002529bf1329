"""A real supervisor process whose doors are a folder: `python -m tests.supervisor.run_supervisor FD FOLDER CONFIG`."""

import json
import socket
import sys
from pathlib import Path

from orchestrator import telemetry
from orchestrator.supervisor import service
from orchestrator.supervisor.renewal import Doors
from orchestrator.supervisor.trust import Config
from tests.supervisor.doors import FileDoors, FileLeases

if __name__ == "__main__":
    descriptor, folder, config = int(sys.argv[1]), Path(sys.argv[2]), Config(**json.loads(sys.argv[3]))
    with (folder / "supervisor.log").open("a") as log:
        telemetry.configure(telemetry.Style.JSON, stream=log)
        service.serve(socket.socket(fileno=descriptor), Doors(FileDoors(folder), FileLeases(folder)), config)
