"""Returns the arrays that it was sent, after training them where the run has a network to train."""

from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    config = context.run_config
    arrays = message.content["arrays"]
    if config["network"] == "cnn":
        import torch

        from peers import network

        torch.set_num_threads(1)  # Ray runs one client on each core.
        net = network.cnn()
        net.load_state_dict(arrays.to_torch_state_dict())
        network.train(net, config["steps"], config["batch"], seed=context.node_id % 2**31)
        arrays = ArrayRecord(net.state_dict())
    content = RecordDict({"arrays": arrays, "metrics": MetricRecord({"num-examples": 1})})
    return Message(content=content, reply_to=message)
