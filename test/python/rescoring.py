"""Rescores an evaluation run with scorers that the service runs, and one that it cannot run.

Prints the run and its status, as JSON.
"""

import json
import sys
import time

import weave
from weave.flow.llm_structured_model import LLMStructuredCompletionModel
from weave.scorers import LLMAsAJudgeScorer

[project, source, code_scorer, scorer_url, judge_model, prompt] = sys.argv[1:]
client = weave.init(project)


class ExactMatchScorer(weave.Object):
    column_map: dict[str, str]
    ignore_case: bool = False


class EditDistanceScorer(weave.Object):
    column_map: dict[str, str]
    ignore_case: bool = False


class HTTPScorer(weave.Object):
    url: str
    secret: str
    timeout_s: float = 10


columns = {"output": "output.text", "target": "capital"}
judge = LLMAsAJudgeScorer(
    name="judged",
    model=LLMStructuredCompletionModel(
        llm_model_id=judge_model,
        default_params={"temperature": 0, "response_format": "json_object"},
    ),
    scoring_prompt=prompt,
    column_map={"output": "output.text"},
)
scorers = [
    ExactMatchScorer(name="exact-match", column_map=columns),
    EditDistanceScorer(name="distance", column_map=columns),
    HTTPScorer(name="exact", url=scorer_url, secret="SCORER"),
    judge,
]
refs = [weave.publish(scorer).uri for scorer in scorers]
client.flush()

rescored = client.server.rescore(
    {
        "project_id": project,
        "source_evaluation_run_id": source,
        "scorer_refs": [*refs, code_scorer],
    }
)
request = {"project_id": project, "call_id": rescored.call_id}
deadline = time.monotonic() + 120
while (status := client.server.evaluation_status(request).status).code == "running":
    if time.monotonic() > deadline:
        sys.exit("the run did not end")
    time.sleep(0.1)

print(json.dumps({"run": rescored.evaluation_run_id, "status": status.model_dump()}))
