"""A Flower app of a few files, for a federation of tables: `tdamp federate app` writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...io.atomic import write_whole

NAME = "tdamp-federation"

CONFIG: dict[str, Any] = {
    "out": "model",
    "rounds": 10,
    "local-epochs": 10,
    "aggregation": "wga",
    "precision": "full",
    "robust": False,
    "clip": 0.0,
    "noise-multiplier": 0.0,
    "delta": 1e-5,
    "seed": 0,
    "min-clients": 2,
    "min-replies": 2,
    "participation": 1.0,
    "round-timeout": 3600.0,
    "patience": 600.0,
    "parts": "",
}
"""Flower's run configuration and its defaults; a clip and a noise multiplier of 0 are no privacy."""

SERVER = '''"""The server of the federation."""

from pathlib import Path

from tdamp.federated.flower.tables import table_server_app

app = table_server_app(Path(__file__).with_name("federation.json"))
'''

CLIENT = '''"""A client of the federation: it reads the table that its node's configuration names."""

from pathlib import Path

from tdamp.federated.flower.tables import table_client_app

app = table_client_app(Path(__file__).with_name("federation.json"))
'''

PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "1.0.0"
description = "Federated learning of {target} with tdamp."
license = "Apache-2.0"
dependencies = ["tdamp[federated]"]

[tool.flwr.app]
publisher = "tdamp"

[tool.flwr.app.components]
serverapp = "server_app:app"
clientapp = "client_app:app"

# Every value can be changed for one run: flwr run . NAME --run-config "rounds=20"
[tool.flwr.app.config]
{config}
"""

KEYS = """#!/bin/sh
# Certificates for the server and a key for each node: sh keys.sh SERVER NODES [FOLDER]
# SERVER is the name or address by which the nodes reach the server, NODES their number.
set -eu
server=$1 nodes=$2 folder=${3:-keys}
umask 077
mkdir -p "$folder"
cd "$folder"
case $server in *[!0-9.]*) kind=DNS ;; *) kind=IP ;; esac
curve="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc"
openssl req -x509 $curve -days 365 -subj "/CN=federation authority" -addext "keyUsage=critical,keyCertSign,cRLSign" \\
  -keyout ca.key -out ca.crt
openssl req $curve -subj "/CN=$server" -keyout server.key -out server.csr
printf 'subjectAltName=%s:%s,DNS:localhost,IP:127.0.0.1\\n' "$kind" "$server" > server.ext
printf 'authorityKeyIdentifier=keyid\\n' >> server.ext
openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile server.ext -out server.crt
rm -f server.csr server.ext ca.srl
number=0
while [ "$number" -lt "$nodes" ]; do
  ssh-keygen -q -t ecdsa -b 384 -N "" -C "node-$number" -f "node-$number"
  number=$((number + 1))
done
"""

README = """# A federation that predicts {target}

Written by `tdamp federate app`. Every machine needs `pip install 'tdamp[federated]'`. No row leaves its machine; what
travels is posteriors, means, spreads and numbers of rows.

Keep Flower quiet and offline (every machine, every shell):

```sh
export FLWR_TELEMETRY_ENABLED=0 FLWR_DISABLE_UPDATE_CHECK=1 FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION=1
```

Once, on the server (here called server.example): certificates, and a key for each of {clients} nodes.

```sh
sh keys.sh server.example {clients}
```

Give node 0 the files `keys/ca.crt` and `keys/node-0`, node 1 `keys/ca.crt` and `keys/node-1`, and so on. `ca.key` and
`server.key` stay on the server; nobody needs this folder but the server, as Flower sends it to the nodes.

The server:

```sh
flower-superlink --host 0.0.0.0 --port 8000 --ssl-ca-certfile keys/ca.crt --ssl-certfile keys/server.crt \\
  --ssl-keyfile keys/server.key --enable-supernode-auth --disable-runtime-dependency-installation
```

In `~/.flwr/config.toml` on the server:

```toml
[superlink.federation]
address = "server.example:8000"
root-certificates = "{folder}/keys/ca.crt"
```

Let the nodes in, one line for each:

```sh
flwr supernode register keys/node-0.pub federation
```

On the machine of node 0, with its own table; on the others with their keys, numbers and tables:

```sh
flower-supernode --superlink server.example:8000 --root-certificates ca.crt --auth-supernode-private-key node-0 \\
  --node-config 'partition-id=0 data="/data/my.csv"'
```

Train, from this folder on the server. The run waits for `min-clients` nodes; the model comes into the folder `out`,
relative to where `flower-superlink` was started:

```sh
flwr run . federation --stream --run-config "out='/models/federated' rounds=10"
tdamp predict /models/federated new.csv --out predictions.csv
```

A run that was interrupted goes on from `out.checkpoint` when it is started again with the same configuration.
"""


def write_app(folder: Path, schema: Mapping[str, Any], target: str, config: Mapping[str, Any]) -> None:
    """Write the app; `config` changes values of CONFIG."""
    folder.mkdir(parents=True, exist_ok=True)
    values = {**CONFIG, **config}
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in values.items())  # JSON's strings are TOML's
    files = {
        "pyproject.toml": PROJECT.format(name=NAME, target=_plain(target), config=lines),
        "server_app.py": SERVER,
        "client_app.py": CLIENT,
        "federation.json": json.dumps(schema, ensure_ascii=False, indent=1),
        "keys.sh": KEYS,
        "README.md": README.format(target=_plain(target), clients=values["min-clients"], folder=folder.absolute()),
        ".gitignore": "keys/\nmodel*/\n",
    }
    for name, text in files.items():
        write_whole(folder / name, text.encode())


def _plain(name: str) -> str:
    """A column's name inside a quoted line."""
    return "".join(letter for letter in name if letter.isprintable() and letter not in '"\\`')
