"""Gives feedback on calls and applies a scorer to one. Prints what the client reads back, as JSON."""

import asyncio
import json
import sys

import weave

client = weave.init(sys.argv[1])


@weave.op
def greet(name: str) -> str:
    return f"Hello, {name}"


class Politeness(weave.Scorer):
    greeting: str

    @weave.op
    def score(self, output: str) -> dict:
        return {"polite": output.startswith(self.greeting)}


greeting, call = greet.call("Ada")
other, other_call = greet.call("Grace")
client.flush()

reaction = call.feedback.add_reaction("👍")
note = call.feedback.add_note("A fine greeting")
custom = call.feedback.add("correction", {"text": "Good day, Ada", "score": 0.75})
taken_back = call.feedback.add_note("Sent by mistake")
client.flush()
call.feedback.purge(taken_back)
disliked = other_call.feedback.add_reaction("👎")

result = asyncio.run(call.apply_scorer(Politeness(greeting="Hello")))
client.flush()

print(
    json.dumps(
        {
            "calls": [call.id, other_call.id],
            "ids": {"reaction": reaction, "note": note, "custom": custom, "other": disliked},
            "result": result.result,
            "score_call": result.score_call.id,
            "read": [{"type": item.feedback_type} for item in client.get_call(call.id).feedback],
            "thumbs_down": [item.weave_ref for item in client.get_feedback(reaction="👎")],
            "scored_by": [found.id for found in client.get_calls(scored_by="Politeness")],
            "with_feedback": [
                sorted(item["feedback_type"] for item in found.summary["weave"]["feedback"])
                for found in client.get_calls(filter={"call_ids": [call.id]}, include_feedback=True)
            ],
        }
    )
)
