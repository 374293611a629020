"""Asks a model through the gateway with the openai package, traced. Prints what was answered, as JSON."""

import asyncio
import json
import sys

import openai
import weave

client = weave.init(sys.argv[1])
model = sys.argv[2]
chat = openai.OpenAI(project=sys.argv[1], max_retries=0)
messages = [{"role": "user", "content": "Say hello"}]


@weave.op
def ask_whole() -> str:
    return chat.chat.completions.create(model=model, messages=messages).choices[0].message.content


@weave.op
def ask_stream() -> str:
    stream = chat.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options={"include_usage": True}
    )
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


@weave.op
async def ask_async() -> str:
    async with openai.AsyncOpenAI(project=sys.argv[1], max_retries=0) as asynchronous:
        answer = await asynchronous.chat.completions.create(model=model, messages=messages)
    return answer.choices[0].message.content


@weave.op
def ask_unknown() -> None:
    chat.chat.completions.create(model="acme/none", messages=messages)


answers = [ask_whole(), ask_stream(), asyncio.run(ask_async())]
try:
    ask_unknown()
except openai.NotFoundError as error:
    answers.append(error.status_code)
models = [listed.id for listed in chat.models.list()]
client.flush()

client.add_cost(llm_id=model, prompt_token_cost=0.5, completion_token_cost=2)
spare = client.add_cost(llm_id="spare", prompt_token_cost=1, completion_token_cost=1)
client.purge_costs([spare.ids[0][0]])
costs = [
    call.summary["weave"]["costs"]
    for call in client.get_calls(filter={"trace_roots_only": True}, include_costs=True)
    if call.func_name == "ask_whole"
]
print(
    json.dumps(
        {
            "answers": answers,
            "models": models,
            "prices": [[price.llm_id, price.prompt_token_cost] for price in client.query_costs()],
            "costs": costs,
        },
        default=str,
    )
)
