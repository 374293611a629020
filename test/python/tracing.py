"""Traces nested and failing ops, threads, generators and coroutines. Renames and deletes a call.

Prints what the client reads back, as JSON.
"""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import weave

client = weave.init(sys.argv[1])


@weave.op
def square(number: int) -> int:
    return number * number


@weave.op
def divide(dividend: int, divisor: int) -> float:
    return dividend / divisor


@weave.op
def compute(number: int) -> dict:
    squared = square(number)
    try:
        divide(squared, 0)
    except ZeroDivisionError as error:
        return {"squared": squared, "problem": str(error)}


@weave.op
def fail(reason: str) -> None:
    divide(1, 2)
    raise ValueError(reason)


@weave.op
def in_threads(numbers: list[int]) -> list[int]:
    with weave.ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(square, numbers))


@weave.op
def count_to(last: int):
    for number in range(1, last + 1):
        yield square(number)


@weave.op
async def answer(question: str) -> str:
    await asyncio.sleep(0.01)
    return question.upper()


@weave.op
async def ask(questions: list[str]) -> list[str]:
    return await asyncio.gather(*(answer(question) for question in questions))


with weave.attributes({"environment": "test"}):
    compute(7)
try:
    fail("Nothing works: ☂")
except ValueError:
    pass
with weave.thread("conversation-1"):
    in_threads([2, 3, 4])
# Threads of a plain pool have no parent call.
with ThreadPoolExecutor(max_workers=4) as pool:
    list(pool.map(divide, [6, 8], [3, 4]))
list(count_to(3))
asyncio.run(ask(["why?", "how?"]))
square(11)

client.flush()
root = next(call for call in client.get_calls() if call.func_name == "compute")
deleted = next(call for call in client.get_calls() if call.func_name == "square" and call.inputs["number"] == 11)
deleted.delete()
root.set_display_name("computed")
contains = {"input": {"$getField": "exception"}, "substr": {"$literal": "Nothing"}}
squares = client.get_calls(
    filter={"op_names": [square.ref.uri]}, sort_by=[{"field": "inputs.number", "direction": "desc"}]
)
client.flush()

print(
    json.dumps(
        {
            "project": client.project_id,
            "calls": len(client.get_calls()),
            "roots": sorted(call.func_name for call in client.get_calls(filter={"trace_roots_only": True})),
            "first": [call.func_name for call in client.get_calls(limit=2)],
            "squares": [call.inputs["number"] for call in squares],
            "failed": [call.func_name for call in client.get_calls(query={"$expr": {"$contains": contains}})],
            "children": sorted(child.func_name for child in root.children()),
            "output": [dict(call.output) for call in client.get_calls(columns=["output"], limit=1)],
            "renamed": client.get_call(root.id).display_name,
        }
    )
)
