"""A server on this machine that answers as OpenML does, for one data set given as ARFF.

An attribute named ``id`` is an identifier on OpenML, one named ``note`` is ignored there.
"""

import hashlib
import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import Request, urlopen

from sklearn.datasets import _openml

OPENML = "https://www.openml.org"


def answers_of(arff, targets, data_id, name):
    """What OpenML says of a data set, by address; ``arff`` is the file, ``targets`` are names with commas."""
    attributes = re.findall(r"^@attribute\s+('.*?'|\S+)\s+(.*)$", arff, re.MULTILINE)
    rows = arff.split("@data\n")[1].splitlines()
    features = [
        {
            "index": str(index),
            "name": attribute.strip("'"),
            "data_type": "nominal" if kind.startswith("{") else kind,
            "is_target": str(attribute.strip("'") in (targets or "").split(",")).lower(),
            "is_ignore": str(attribute == "note").lower(),
            "is_row_identifier": str(attribute == "id").lower(),
            "number_of_missing_values": "0",
        }
        for index, (attribute, kind) in enumerate(attributes)
    ]
    there = {feature["name"] for feature in features}
    description = {
        "id": str(data_id),
        "name": name,
        "version": "1",
        "description": "What was heard in a garden.",
        "format": "Sparse_ARFF" if rows[0].startswith("{") else "ARFF",
        "file_id": "77",
        "url": f"{OPENML}/data/v1/download/77/{name}.arff",
        "default_target_attribute": targets,
        "row_id_attribute": "id" if "id" in there else None,
        "ignore_attribute": ["note"] if "note" in there else [],
        "status": "active",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }
    listed = {"did": data_id, "name": name, "version": 1, "status": "active", "format": description["format"]}
    qualities = [{"name": "NumberOfInstances", "value": f"{len(rows)}.0"}]
    told = {
        f"data/{data_id}": {"data_set_description": description},
        f"data/features/{data_id}": {"data_features": {"feature": features}},
        f"data/qualities/{data_id}": {"data_qualities": {"quality": qualities}},
        f"data/list/data_name/{name}/limit/2/status/active/": {"data": {"dataset": [listed]}},
        f"data/list/data_name/{name}/limit/2/data_version/1": {"data": {"dataset": [listed]}},
    }
    # Older versions of scikit-learn ask for the file by its number alone.
    files = {f"/data/v1/download/77/{name}.arff": arff, "/data/v1/download/77": arff}
    return files | {f"/api/v1/json/{address}": json.dumps(answer) for address, answer in told.items()}


@contextmanager
def openml_server(monkeypatch, arff, targets, data_id=40589, name="garden"):
    """Have scikit-learn ask this machine; gives the list of addresses that it asked for.

    As OpenML does, it answers 412 where there is no such data set.
    """
    answers, asked = answers_of(arff, targets, data_id, name), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = answers.get(self.path, "").encode()
            self.send_response(200 if body else 412)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))  # seconds between looks for the end
    thread.start()
    redirect(monkeypatch, f"http://127.0.0.1:{server.server_port}")
    try:
        yield asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def redirect(monkeypatch, base):
    """Have scikit-learn ask another address than OpenML's, and not through a proxy."""
    for proxy in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
        monkeypatch.delenv(proxy.upper(), raising=False)
    # Versions of scikit-learn differ in the server that they ask: www.openml.org or api.openml.org.
    monkeypatch.setattr(
        _openml,
        "urlopen",
        lambda asked: urlopen(Request(re.sub(r"^https://\w+\.openml\.org(?=/)", base, asked.full_url))),
    )
