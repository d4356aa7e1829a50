"""``choral evaluate`` on folders of parts: the same as on whole files, here or on the workers of a Dask cluster."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

from choral.cli import app
from choral.evaluation import evaluating, parts
from commands import assert_refused
from dask_scheduler import start_scheduler

N_PARTS, ROWS, N_LABELS = 3, 40, 4
RNG = np.random.default_rng(0)
TRUE = (RNG.random((N_PARTS * ROWS, N_LABELS)) < 0.4).astype(np.uint8)
BROAD = TRUE ^ (RNG.random(TRUE.shape) < 0.2)  # a few labels wrong in many rows
DEEP = np.where(RNG.random((len(TRUE), 1)) < 0.2, 1 - TRUE, TRUE)  # all labels wrong in a few
SCORES = 0.2 + 0.5 * TRUE + 0.2 * RNG.random(TRUE.shape)
WEIGHTS = RNG.integers(3, size=len(TRUE))
NAMES = [f"label {i}" for i in range(N_LABELS)]


def run(*arguments):
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)], env={"COLUMNS": "80"})


def output(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def assert_fails(message, *arguments):
    assert_refused(run(*arguments), message)


def rows_of(part):
    return slice(part * ROWS, (part + 1) * ROWS)


def write_csv(path, values, names=NAMES, **columns):
    table = {name: values[:, i] for i, name in enumerate(names)} | columns
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines))


def write_parquet(path, values, **columns):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({**dict(zip(NAMES, values.T, strict=True)), **columns}).to_parquet(path, index=False)


def write_npz(path, values):
    np.savez(path, y=values)


def write_sparse(path, values):
    sp.save_npz(path, sp.csr_array(values))


WRITERS = {"csv": write_csv, "parquet": write_parquet, "npz": write_npz, "sparse": write_sparse}


def write_both(name, values, kind, **columns):
    """A whole file and a folder of parts."""
    suffix, write = ("npz" if kind == "sparse" else kind), WRITERS[kind]
    write(Path(f"{name}.{suffix}"), values, **columns)
    Path(name).mkdir()
    for part in range(N_PARTS):
        some = {title: column[rows_of(part)] for title, column in columns.items()}
        write(Path(name, f"part-{part}.{suffix}"), values[rows_of(part)], **some)
    return f"{name}.{suffix}", name


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)  # some CI sets it: rich then takes a pipe for a terminal
    return tmp_path


@pytest.fixture
def folder(here):
    """A current folder with a truth and predictions, in one piece and in parts."""
    write_both("true", TRUE, "csv", w=WEIGHTS, id=np.arange(len(TRUE)))
    for name, values in {"broad": BROAD, "deep": DEEP, "scores": SCORES}.items():
        write_both(name, values, "csv", id=np.arange(len(TRUE)))
    return here


# The same as in one piece


@pytest.mark.parametrize("kind", WRITERS)
def test_parts_give_what_the_whole_gives(kind):
    files, folders = zip(
        *(write_both(*pair, kind) for pair in (("true", TRUE), ("b", BROAD), ("d", DEEP))), strict=True
    )
    assert output(*folders) == output(*files)
    assert "95% interval" in output(*folders)


@pytest.mark.parametrize(
    "options",
    [
        ["--weights", "w"],
        ["--family", "polynomial", "--parameters", "1,2,inf"],
        ["--bootstrap", "0"],
        ["--bootstrap", "20", "--seed", "3"],
        ["--json"],
        ["--weights", "w", "--json"],
    ],
)
def test_options_mean_the_same(folder, options):
    options = [*options, "--csv", "out.csv"]
    of_files = output("true.csv", "broad.csv", "deep.csv", "--weights", "w", *options)
    written = Path("out.csv").read_bytes()
    assert output("true", "broad", "deep", "--weights", "w", *options) == of_files
    assert Path("out.csv").read_bytes() == written


@pytest.mark.parametrize("threshold", [0.5, 0.99])
def test_threshold(folder, threshold):
    options = ["--weights", "w", "--threshold", threshold]
    assert output("true", "scores", "broad", *options) == output("true.csv", "scores.csv", "broad.csv", *options)


def test_scores_have_no_intervals_and_say_so(folder):
    options = ["--weights", "w", "--soft"]
    result = run("true", "scores", *options, "--json")
    assert result.stderr.startswith("note: no intervals: of scores in parts only sums are kept")
    ours = json.loads(result.stdout)["models"]["scores"]
    theirs = json.loads(output("true.csv", "scores.csv", *options, "--json"))["models"]["scores"]
    assert ours["losses"] == pytest.approx(theirs["losses"], abs=1e-12)
    assert ours["difference_to_best"] is None
    assert run("true", "scores", *options, "--bootstrap", "0").stderr == ""


def test_hard_and_soft_folders_are_a_warning(folder):
    result = run("true", "scores", "broad", "--weights", "w", "--bootstrap", "0")
    assert result.stderr.startswith("warning: scores (scores) and hard labels do not compare")
    assert "Least loss at k=1 (Hamming): broad.\n" in result.stdout


def test_too_many_combinations_have_no_intervals(folder, monkeypatch):
    monkeypatch.setattr(evaluating, "MAX_GROUPS", 5)
    result = run("true", "broad", "deep", "--weights", "w")
    assert result.stderr == "note: no intervals: the rows have more than 5 combinations of errors and weights.\n"
    assert "bootstrap" not in result.stdout


def test_page_and_plot(folder):
    pytest.importorskip("plotly")
    pytest.importorskip("matplotlib")
    output("true", "broad", "deep", "--weights", "w", "--report", "page.html", "--plot", "curves.png")
    assert "polynomial" in Path("page.html").read_text()
    assert Path("curves.png").stat().st_size > 1000


def test_formats_mix_and_what_is_hidden_is_no_part(folder):
    expected = output("true.csv", "broad.csv", "--weights", "w")
    for part in range(N_PARTS):
        Path(f"broad/part-{part}.csv").unlink()
        write_csv(Path(f"broad/part-{part}.tsv"), BROAD[rows_of(part)], id=np.arange(len(TRUE))[rows_of(part)])
        path = Path(f"broad/part-{part}.tsv")
        path.write_text(path.read_text().replace(",", "\t"))
    for name in ("_SUCCESS", ".part-0.csv.crc"):
        Path("true", name).write_text("")
    assert output("true", "broad", "--weights", "w") == expected


def test_order_of_columns_and_rows_in_a_part_does_not_matter(folder):
    expected = output("true.csv", "broad.csv", "--weights", "w")
    order, ids = [2, 0, 3, 1], np.arange(len(TRUE))[rows_of(1)]
    backwards = BROAD[rows_of(1)][::-1]
    write_csv(Path("broad/part-1.csv"), backwards[:, order], [NAMES[i] for i in order], id=ids[::-1])
    write_csv(Path("true/part-2.csv"), TRUE[rows_of(2)][:, order], [NAMES[i] for i in order],
              w=WEIGHTS[rows_of(2)], id=np.arange(len(TRUE))[rows_of(2)])  # fmt: skip
    assert output("true", "broad", "--weights", "w") == expected


def test_a_part_without_weight(folder):
    weights = WEIGHTS * (np.arange(len(TRUE)) >= ROWS)
    for path, rows in ((Path("true/part-0.csv"), rows_of(0)), (Path("true.csv"), slice(None))):
        write_csv(path, TRUE[rows], w=weights[rows], id=np.arange(len(TRUE))[rows])
    assert output("true", "broad", "--weights", "w") == output("true.csv", "broad.csv", "--weights", "w")


def test_model_is_named_by_its_folder(folder):
    Path("broad").rename("forest.v2")
    assert "\nforest.v2  " in output("true", "forest.v2/", "--weights", "w")


# What is wrong


def test_parts_that_do_not_match(folder):
    Path("broad/part-1.csv").rename("broad/part-7.csv")
    message = "broad does not have the parts of true: 1 missing ('part-1'), 1 unknown ('part-7')."
    assert_fails(message, "true", "broad")


def test_folders_that_hold_something_else(folder):
    assert_fails("deep.csv must be a folder of parts, as that of the truth; it is not a folder.", "true", "deep.csv")
    assert_fails("deep is a folder, but true.csv is not: expected only files, or only folders.", "true.csv", "deep")
    assert_fails("nowhere must be a folder of parts, as that of the truth; it does not exist.", "true", "nowhere")
    assert_fails("deep is a folder, but nowhere does not exist: expected only", "nowhere", "deep")
    Path("deep/more.csv").mkdir()
    assert_fails(".npz, .parquet; got the folder 'more.csv'.", "true", "deep")
    Path("deep/more.csv").rmdir()
    Path("deep/readme.txt").write_text("")
    assert_fails("deep must hold files that end in .csv, .tsv, ", "true", "deep")
    assert_fails(".npz, .parquet; got 'readme.txt'", "true", "deep")
    Path("deep/readme.txt").rename("deep/part-1.tsv")
    assert_fails("deep holds a part twice: part-1.csv and part-1.tsv.", "true", "deep")
    Path("empty").mkdir()
    assert_fails("empty holds no parts: files that end in .csv", "empty", "deep")
    Path("deep").rename("all irrelevant")
    assert_fails("'all irrelevant' is the name of the baseline", "true", "all irrelevant")


def test_folder_that_cannot_be_read(folder, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert_fails("true cannot be read: Permission denied.", "true", "broad")


def test_columns_that_differ_between_parts(folder):
    for name, extra in (("true", {"w": WEIGHTS[rows_of(1)]}), ("broad", {})):
        ids = {"id": np.arange(len(TRUE))[rows_of(1)]}
        write_csv(Path(name, "part-1.csv"), TRUE[rows_of(1)], [*NAMES[:3], "other"], **extra, **ids)
    message = "true/part-1.csv does not have the labels of true/part-0.csv: 1 missing ('label 3'), 1 unknown ('other')."
    assert_fails(message, "true", "broad", "--weights", "w")


def test_numbers_of_labels_that_differ_between_parts():
    for name in ("true", "pred"):
        write_both(name, TRUE, "npz")
        write_npz(Path(name, "part-2.npz"), TRUE[:, :3])
    assert_fails("true/part-2.npz has 3 labels, true/part-0.npz has 4.", "true", "pred")


def test_what_is_wrong_in_a_part_is_named_with_its_place(folder):
    values = BROAD[rows_of(2)].astype(int)
    values[4, 1] = 2
    write_csv(Path("broad/part-2.csv"), values, id=np.arange(len(TRUE))[rows_of(2)])
    place = "broad/part-2.csv, line 6, column 'label 1': expected a number in [0, 1]; got 2.0."
    assert_fails(place, "true", "broad", "--weights", "w")
    write_csv(Path("broad/part-2.csv"), BROAD[rows_of(2)], id=np.arange(ROWS))
    assert_fails(
        "broad/part-2.csv does not have the ids of true/part-2.csv: 40 missing", "true", "broad", "--weights", "w"
    )
    assert_fails("no column 'image' for the ids", "true", "broad", "--id", "image")


def test_weights_that_are_all_zero(folder):
    for part in range(N_PARTS):
        ids = np.arange(len(TRUE))[rows_of(part)]
        write_csv(Path(f"true/part-{part}.csv"), TRUE[rows_of(part)], w=np.zeros(ROWS), id=ids)
    assert_fails("true, column 'w': all weights are 0; expected one above 0.", "true", "broad", "--weights", "w")
    for part in range(N_PARTS):
        ids = np.arange(len(TRUE))[rows_of(part)]
        write_csv(Path(f"true/part-{part}.csv"), TRUE[rows_of(part)], w=np.full(ROWS, 5e-324), id=ids)
    assert_fails("true, column 'w', must have an entry of at least 1e-290", "true", "broad", "--weights", "w")


def test_a_threshold_must_find_the_same_kind_in_all_parts(folder):
    logits = 6 * SCORES - 3
    for part in range(N_PARTS):
        some = DEEP if part == 1 else logits
        ids = np.arange(len(TRUE))[rows_of(part)]
        write_csv(Path(f"scores/part-{part}.csv"), some[rows_of(part)], id=ids)
    message = "scores: some parts hold scores, others 0 and 1 alone"
    assert_fails(message, "true", "scores", "--weights", "w", "--threshold", "0")
    assert run("true", "scores", "--weights", "w", "--threshold", "0.5").exit_code == 0


def test_parameters_are_refused_after_the_first_part(folder):
    Path("broad/part-2.csv").write_text("not read any more")
    message = "parameters of the binomial family must be whole numbers in 1..4"
    assert_fails(message, "true", "broad", "--weights", "w", "--parameters", "1,9")


def test_a_part_is_no_output(folder):
    assert_fails("is an input or named twice", "true", "broad", "--csv", "broad/part-1.csv")


def test_dask_is_for_folders(folder):
    assert_fails(
        "--dask is for folders of parts; true.csv is not a folder.", "true.csv", "broad.csv", "--dask", "local"
    )


# Workers

MEMORY = 250_000_000  # of a worker
BIG_PARTS, BIG_ROWS, BIG_WIDTH = 64, 100_000, 100  # 20 MB a part, 1.3 GB in all


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": MEMORY}
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
        yield client


def address(client):
    return client.scheduler_info()["address"]


@pytest.mark.parametrize("options", [[], ["--threshold", "0.5"], ["--bootstrap", "0", "--json"]])
def test_workers_find_the_same(folder, client, options):
    folders = ["true", "broad", "scores"] if "--threshold" in options else ["true", "broad", "deep"]
    here = output(*folders, "--weights", "w", *options)
    assert output(*folders, "--weights", "w", *options, "--dask", address(client)) == here


def test_parts_larger_than_the_memory_of_all_workers(client):
    rng = np.random.default_rng(1)
    for name in ("true", "pred"):
        Path(name).mkdir()
        labels = np.tile(rng.integers(2, size=(1000, BIG_WIDTH), dtype=np.uint8), (BIG_ROWS // 1000, 1))
        write_npz(Path(name, "part-0.npz"), labels)
        for part in range(1, BIG_PARTS):
            os.link(Path(name, "part-0.npz"), Path(name, f"part-{part}.npz"))
    assert 2 * BIG_PARTS * BIG_ROWS * BIG_WIDTH > 2.5 * 2 * MEMORY
    before = sum(client.run(bytes_sent).values())
    found = json.loads(output("true", "pred", "--dask", address(client), "--json"))
    assert found["n_rows"] == BIG_PARTS * BIG_ROWS
    one = json.loads(output("true/part-0.npz", "pred/part-0.npz", "--bootstrap", "0", "--json"))
    assert found["models"]["pred"]["losses"] == pytest.approx(one["models"]["part-0"]["losses"])
    assert 0 < sum(client.run(bytes_sent).values()) - before < 5000 * BIG_PARTS


def bytes_sent(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


def test_what_is_wrong_with_a_part_is_one_line(folder, client):
    Path("broad/part-1.csv").write_text("nothing")
    assert_fails(
        "broad/part-1.csv has a header but no rows;", "true", "broad", "--weights", "w", "--dask", address(client)
    )
    Path("numbers").mkdir()
    Path("numbers/part.csv").write_text("0,1\n1,1\n")
    message = "numbers/part.csv, 0,1, may be a header or labels; say --header or --no-header."
    assert_fails(message, "numbers", "numbers", "--dask", address(client))


def test_a_cluster_that_does_not_answer_is_one_line(folder, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("choral.study.clusters.SECONDS_TO_ANSWER", 0.5)
    message = "no Dask scheduler answers at tcp://127.0.0.1:9 within 0.5 seconds."
    assert_fails(message, "true", "broad", "--dask", "tcp://127.0.0.1:9")
    with socket.create_server(("127.0.0.1", 0)) as mute:  # as the dashboard of a cluster is
        assert_fails("within 0.5 seconds.", "true", "broad", "--dask", f"tcp://127.0.0.1:{mute.getsockname()[1]}")
    assert_fails("no Dask scheduler answers at ucx", "true", "broad", "--dask", "ucx://127.0.0.1:9")
    assert_fails("no Dask scheduler answers at tls", "true", "broad", "--dask", "tls://127.0.0.1:9")


class FailingClient:
    """A client whose second task fails as a cluster does."""

    as_current = staticmethod(nullcontext)

    def __init__(self, error):
        self.error = error
        self.calls = []
        self.cancelled = None

    def submit(self, load, call, pure):
        self.calls.append(call)
        return FailingFuture(load, call, self.error if len(self.calls) == 2 else None)

    def cancel(self, futures):
        self.cancelled = futures


class FailingFuture:
    def __init__(self, function, item, error):
        self.function, self.item, self.error = function, item, error
        self.status = "finished" if error is None else "error"

    def result(self, timeout):
        return self.function(self.item)

    def exception(self, timeout):
        return self.error


def wait_for_fakes(distributed):
    def wait(futures, timeout, return_when):
        for future in futures:
            if isinstance(future.error, distributed.CancelledError | KeyboardInterrupt):
                raise future.error
        return futures, []

    return wait


def test_what_happens_to_clusters(folder, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "wait", wait_for_fakes(distributed))
    files = [
        parts.ComparedPaths(Path(f"true/part-{i}.csv"), {"broad": Path(f"broad/part-{i}.csv")}) for i in range(N_PARTS)
    ]
    options = parts.ComparedOptions(weight_column="w")
    killed = FailingClient(distributed.KilledWorker("task", None, 3))
    with pytest.raises(MemoryError, match="Workers died, one after another, while they read true/part-1.csv and its"):
        parts.summarise_parts(files, options, client=killed)
    assert len(killed.cancelled) == 2
    with pytest.raises(OSError, match="the Dask cluster has cancelled the work, or is gone."):
        parts.summarise_parts(files, options, client=FailingClient(distributed.CancelledError("task")))
    interrupted = FailingClient(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        parts.summarise_parts(files, options, client=interrupted)
    assert len(interrupted.cancelled) == 2


def test_a_cluster_without_workers_is_one_line(folder, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("choral._dask_results.SECONDS_TO_LOOK", 0.1)
    monkeypatch.setattr("choral._dask_results.SECONDS_WITHOUT_WORKERS", 0.5)
    with start_scheduler() as (_, address):
        message = "the Dask cluster has no workers, and none came within 0.5 seconds."
        assert_fails(message, "true", "broad", "--weights", "w", "--dask", address)


def test_a_process_without_another_client(folder):
    """In this one a fixture has a client, which Dask would take for whatever names none."""
    pytest.importorskip("distributed")
    command = [
        sys.executable,
        "-m",
        "choral",
        "evaluate",
        "true",
        "broad",
        "--weights",
        "w",
        "--bootstrap",
        "0",
        "--json",
    ]
    ended = [
        subprocess.run([*command, *more], capture_output=True, text=True, timeout=60, check=False)
        for more in ([], ["--dask", "local"])
    ]
    assert [process.returncode for process in ended] == [0, 0], ended[1].stderr
    assert json.loads(ended[0].stdout) == json.loads(ended[1].stdout)


def test_a_cluster_on_this_machine_and_its_interruption(folder):
    """Ctrl-C reaches the workers of a terminal too, and none of them has anything to say about it."""
    pytest.importorskip("distributed")
    code = (
        "import time\n"
        "from choral.evaluation import evaluating, parts\n"
        "def wait(client, summarise, some):\n"
        "    print(client.submit(summarise, some[0]).result().source, flush=True)\n"
        "    client.submit(time.sleep, 30).result()\n"
        "    yield\n"
        "parts._on_workers = wait\n"
        "if __name__ == '__main__':\n"
        "    from choral.__main__ import main; main()"
    )
    Path("slow.py").write_text(code)
    command = [sys.executable, "slow.py", "evaluate", "true", "broad", "--weights", "w", "--dask", "local"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, start_new_session=True) as process:
        assert process.stdout.readline() == f"{folder / 'true' / 'part-0.csv'}\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "choral: interrupted\n")
    assert process.returncode == 130
