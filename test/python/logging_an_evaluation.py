"""Logs an evaluation row by row with EvaluationLogger. Prints the id of the run, as JSON."""

import json
import sys

import weave

client = weave.init(sys.argv[1])

log = weave.EvaluationLogger(
    name="logged run",
    model={"name": "adder", "version": 2},
    dataset=[{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 6}],
    scorers=["correct", "certainty"],
)


@weave.op
def add(a: int, b: int) -> int:
    return a + b


first = log.log_prediction(inputs={"a": 1, "b": 2}, output=3)
first.log_score("correct", True)
first.log_score("certainty", 0.5)
first.finish()

with log.log_prediction(inputs={"a": 3, "b": 4}) as second:
    second.output = add(3, 4)
    with second.log_score("certainty") as certainty:
        certainty.value = 1.0
    second.log_score("correct", True)

log.log_example(inputs={"a": 5, "b": 6}, output=12, scores={"correct": False, "certainty": 0.9})
log.log_summary({"note": "two of three"})
client.flush()
print(json.dumps({"run": log._evaluate_call.id}))
