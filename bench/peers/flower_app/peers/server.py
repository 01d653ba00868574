"""Runs rounds of FedAvg and writes the seconds of each, and the peak memory of this process, as JSON."""

import json
import resource
import time

import numpy as np
from flwr.app import Array, ArrayRecord, Context
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

app = ServerApp()


class TimedFedAvg(FedAvg):
    """A round lasts from the choice of its clients until the average is there."""

    def __init__(self, **options):
        super().__init__(**options)
        self.seconds = []
        self.replies = []

    def configure_train(self, *arguments):
        self.begin = time.monotonic()
        return super().configure_train(*arguments)

    def aggregate_train(self, server_round, replies):
        replies = list(replies)
        outcome = super().aggregate_train(server_round, replies)
        self.seconds.append(time.monotonic() - self.begin)
        self.replies.append(sum(not reply.has_error() for reply in replies))
        return outcome


@app.main()
def main(grid: Grid, context: Context) -> None:
    config = context.run_config
    if config["network"] == "cnn":
        from peers import network

        arrays = ArrayRecord(network.cnn().state_dict())
    else:
        arrays = ArrayRecord({"values": Array(np.linspace(0, 1, config["values"], dtype=np.float32))})
    while len(list(grid.get_node_ids())) < config["clients"]:  # Connecting is no part of the first round.
        time.sleep(0.2)
    strategy = TimedFedAvg(
        fraction_train=config["sampled"] / config["clients"],
        fraction_evaluate=0.0,
        min_train_nodes=config["sampled"],
        min_available_nodes=config["clients"],
    )
    strategy.start(grid=grid, initial_arrays=arrays, num_rounds=config["rounds"])
    result = {
        "seconds": strategy.seconds,
        "replies": strategy.replies,
        "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    with open(config["result"], "w") as file:
        json.dump(result, file)
