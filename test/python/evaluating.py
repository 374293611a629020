"""Evaluates a model, which fails on one row, with two scorers. Prints the summary and references, as JSON."""

import asyncio
import json
import sys

import weave

client = weave.init(sys.argv[1])

GUESSES = {"France": "Paris", "Japan": "Kyoto", "Peru": "Lima", "Kenya": "Nairobi"}

dataset = weave.Dataset(
    name="capitals",
    rows=[
        {"country": "France", "capital": "Paris"},
        {"country": "Japan", "capital": "Tokyo"},
        {"country": "Atlantis", "capital": "none"},
        {"country": "Peru", "capital": "Lima"},
        {"country": "Kenya", "capital": "Nairobi"},
    ],
)


class Guesser(weave.Model):
    prefix: str

    @weave.op
    def predict(self, country: str) -> dict:
        if country not in GUESSES:
            raise ValueError(f"{country} is not on the map")
        return {"text": self.prefix + GUESSES[country]}


@weave.op
def exact(capital: str, output: dict) -> bool:
    return output is not None and output["text"] == capital


class Length(weave.Scorer):
    longest: int

    @weave.op
    def score(self, output: dict) -> dict:
        return {"length": len(output["text"]), "short": len(output["text"]) <= self.longest}


model = Guesser(name="guesser", prefix="")
evaluation = weave.Evaluation(name="on capitals", dataset=dataset, scorers=[exact, Length(longest=5)])
summary = asyncio.run(evaluation.evaluate(model, __weave={"display_name": "first run"}))


@weave.op
def answer(country: str) -> dict:
    return {"text": "Paris"}


@weave.op
def first_letter(capital: str, output: dict) -> dict:
    return {"same": output["text"][0] == capital[0]}


again = weave.Evaluation(name="again", dataset=dataset, scorers=[exact, first_letter], trials=2)
asyncio.run(again.evaluate(answer))
client.flush()

[run] = evaluation.get_evaluate_calls()
[scores] = again.get_scores().values()
print(
    json.dumps(
        {
            "summary": summary,
            "dataset": dataset.ref.uri,
            "evaluation": evaluation.ref.uri,
            "model": model.ref.uri,
            "run": run.id,
            "scores": {
                "exact": sorted(scores["exact"]),
                "first_letter": sorted(score["same"] for score in scores["first_letter"]),
            },
        }
    )
)
