"""What tensorboard_test.sh checks files with.

run FOLDER RUN        the scalars of an event file against a run's rounds.csv, experiment.toml and events.jsonl
train FOLDER JSON     those of `tributary train --json`
metrics FILE RUN      metrics against a run's rounds.csv and summary.json
served URL DEVICES TOKEN-FILE    the metrics that the dashboard of a run that goes on serves
"""
import csv
import json
import math
import struct
import sys
import time
import urllib.request

from prometheus_client.parser import text_string_to_metric_families
from tensorboard.backend.event_processing import event_file_loader
from tensorboard.compat.proto import event_pb2


def single(value):
    """The nearest number of single precision."""
    return struct.unpack("f", struct.pack("f", value))[0]


def events(folder):
    # The raw loader checks every checksum, and gives the messages as they were written.
    for raw in event_file_loader.RawEventFileLoader(folder + "/events.out.tfevents.tributary").Load():
        yield event_pb2.Event.FromString(raw)


def returns_of(run):
    """Rounds after which the run returned to earlier weights, which are evaluated once more."""
    with open(run + "/events.jsonl") as file:
        return {event["round"] for event in map(json.loads, file) if event["type"] == "rolled-back"}


def scalars(folder, evaluated_again=()):
    found, times, texts = {}, {}, {}
    for event in events(folder):
        for value in event.summary.value:
            if value.metadata.plugin_data.plugin_name == "text":
                texts[value.tag] = value.tensor.string_val[0].decode()
                continue
            assert value.HasField("simple_value"), value
            again = value.tag in ("accuracy", "loss") and event.step in evaluated_again
            assert again or (value.tag, event.step) not in found, f"{value.tag} of step {event.step} twice"
            found[value.tag, event.step] = value.simple_value
            times[value.tag, event.step] = event.wall_time
    return found, times, texts


def rounds_of(run):
    with open(run + "/rounds.csv") as file:
        return list(csv.DictReader(file))


def shares_of(run):
    """Waiting and kept shares of each round, from its log."""
    shares, waited, asked, kept = {}, 0, 0, []
    with open(run + "/events.jsonl") as file:
        for event in map(json.loads, file):
            if event["type"] == "device-finished":
                waited += event["wait_ns"]
                asked += 1
                if event["kept"] is not None:
                    kept.append(event["kept"])
            elif event["type"] == "round-finished":
                shares[event["round"]] = (waited / (asked * event["duration_ns"]), sum(kept) / len(kept) if kept else None)
                waited, asked, kept = 0, 0, []
    return shares


def expected_of(run):
    wanted, total = {}, 0
    names = {"duration": "round_seconds", "applied": "applied", "bytes_down": "bytes_down", "bytes_up": "bytes_up",
             "train_loss": "train_loss", "overlap": "overlap", "accuracy": "accuracy", "loss": "loss"}
    shares = shares_of(run)
    streams = False
    for row in rounds_of(run):
        step = int(row["round"])
        for column, tag in names.items():
            if row[column] != "":
                wanted[tag, step] = float(row[column])
        total += int(row["bytes_down"]) + int(row["bytes_up"])
        wanted["bytes_total", step] = total
        streams = streams or int(row["buffered"]) > 0
        if streams:
            wanted["buffered", step] = float(row["buffered"])
        waiting, kept = shares[step]
        wanted["waiting_share", step] = waiting
        if kept is not None:
            wanted["kept", step] = kept
    return wanted


def same(found, wanted, slack=0.0):
    assert found.keys() == wanted.keys(), f"other values: {sorted(found.keys() ^ wanted.keys())[:5]}"
    for key, value in wanted.items():
        assert math.isclose(found[key], single(value), rel_tol=slack), f"{key}: {found[key]}, wanted {value}"


def check_run(folder, run):
    returns = returns_of(run)
    found, _, texts = scalars(folder, returns)
    # An evaluation before the first round has no row.
    at_start = {key: value for key, value in found.items() if key[1] == 0}
    found = {key: value for key, value in found.items() if key[1] > 0}
    assert all(tag in ("accuracy", "loss") for tag, _ in at_start), at_start
    wanted = expected_of(run)
    shares = {key for key in wanted if key[0] in ("waiting_share", "kept")}
    same({k: v for k, v in found.items() if k not in shares}, {k: v for k, v in wanted.items() if k not in shares})
    # These are quotients, which two programs round differently in the last place.
    same({k: found[k] for k in shares}, {k: wanted[k] for k in shares}, slack=1e-6)
    assert len(wanted) > 8 * len(rounds_of(run))
    with open(run + "/experiment.toml") as file:
        toml = file.read()
    assert [line[4:] for line in texts["experiment"].splitlines()][:5] == toml.splitlines()[:5]
    # The same over virtual time.
    again, times, _ = scalars(folder + "/virtual-time", returns)
    assert {k: v for k, v in again.items() if k[1] > 0} == found
    rows = rounds_of(run)
    for before, after in zip(rows, rows[1:]):
        passed = times["round_seconds", int(after["round"])] - times["round_seconds", int(before["round"])]
        assert math.isclose(passed, float(after["seconds"]) - float(before["seconds"]), abs_tol=1e-5)


def check_train(folder, path):
    with open(path) as file:
        epochs = json.load(file)["epochs"]
    wanted = {}
    for epoch in epochs:
        for key, tag in {"train_loss": "train_loss", "train_accuracy": "train_accuracy", "test_loss": "loss",
                         "test_accuracy": "accuracy", "learning_rate": "learning_rate",
                         "samples_per_second": "samples_per_second"}.items():
            wanted[tag, epoch["epoch"]] = epoch[key]
    assert len(wanted) == 18
    same(scalars(folder)[0], wanted)


def samples_of(text):
    samples = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation and family.type in ("counter", "gauge"), family
        for sample in family.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            assert key not in samples, key
            samples[key] = sample.value
    return samples


# Twice from a run that goes on: counters never go back, and what is said is of that run.
def check_served(url, devices, token_file):
    with open(token_file) as file:
        headers = {"Authorization": "Bearer " + file.read().strip()}

    def scrape():
        with urllib.request.urlopen(urllib.request.Request(url + "metrics", headers=headers), timeout=10) as answer:
            assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8", answer.headers
            return samples_of(answer.read().decode("utf-8"))

    end = time.monotonic() + 60
    first = scrape()
    while first.get(("tributary_rounds_total", ()), 0) == 0 and time.monotonic() < end:
        time.sleep(0.1)
        first = scrape()
    last = scrape()
    while last["tributary_rounds_total", ()] == first["tributary_rounds_total", ()] and time.monotonic() < end:
        time.sleep(0.1)
        last = scrape()
    assert last["tributary_rounds_total", ()] > first["tributary_rounds_total", ()] > 0
    assert last["tributary_running", ()] == 1 and last["tributary_devices", ()] == int(devices)
    for key, value in first.items():
        if key[0].endswith("_total"):
            assert last[key] >= value, key
    for device in range(int(devices)):
        assert last["tributary_device_rounds_total", (("device", str(device)), ("outcome", "applied"))] > 0


def check_metrics(path, run):
    with open(path) as file:
        samples = samples_of(file.read())
    rows = rounds_of(run)
    with open(run + "/summary.json") as file:
        summary = json.load(file)
    assert samples["tributary_rounds_total", ()] == len(rows)
    assert samples["tributary_running", ()] == 0
    assert samples["tributary_accuracy", (("where", "central"),)] == summary["accuracy"]
    assert samples["tributary_train_loss", ()] == float(rows[-1]["train_loss"])
    for direction in ("down", "up"):
        total = samples["tributary_bytes_total", (("direction", direction),)]
        assert total == sum(int(row["bytes_" + direction]) for row in rows) == summary["bytes_" + direction]
    for device in summary["devices"]:
        key = (("activity", "waiting"), ("device", str(device["device"])))
        assert samples["tributary_device_seconds_total", key] == device["waiting_seconds"]


if __name__ == "__main__":
    {"run": check_run, "train": check_train, "metrics": check_metrics, "served": check_served}[sys.argv[1]](*sys.argv[2:])
