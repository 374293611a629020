"""
Asks models through the gateway with the packages openai and langchain-openai: a text and a call of a tool, whole and
streamed. Prints what was answered by model, as JSON. With the word "refused" behind the models, prints the errors.
"""

import json
import sys

import openai
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI

project, models, *refused = sys.argv[1:]
MESSAGES = [{"role": "user", "content": "How is the weather?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


def by_openai(model):
    chat = openai.OpenAI(project=project, max_retries=0).chat.completions
    whole = chat.create(model=model, messages=MESSAGES).choices[0].message.content
    stream = chat.create(model=model, messages=MESSAGES, stream=True)
    # The filter of Azure sends choices without a delta.
    deltas = [choice.delta for chunk in stream for choice in chunk.choices if choice.delta]
    text = "".join(delta.content or "" for delta in deltas)
    called = chat.create(model=model, messages=MESSAGES, tools=[WEATHER]).choices[0].message
    with chat.stream(model=model, messages=MESSAGES, tools=[WEATHER]) as streaming:
        for _ in streaming:
            pass
        streamed = streaming.get_final_completion().choices[0].message
    calls = [message.tool_calls[0].function.arguments for message in (called, streamed)]
    return {"texts": [whole, text], "arguments": [json.loads(arguments) for arguments in calls]}


def by_langchain(model):
    chat = ChatOpenAI(
        model=model, max_retries=0, default_headers={"OpenAI-Project": project}, stream_usage=True
    )
    tools = chat.bind_tools([WEATHER])
    text = "".join(chunk.text for chunk in chat.stream("Say hello"))
    streamed = AIMessageChunk(content="")
    for chunk in tools.stream("How is the weather?"):
        streamed += chunk
    return {
        "texts": [chat.invoke("Say hello").text, text],
        "arguments": [
            message.tool_calls[0]["args"] for message in (tools.invoke("How is the weather?"), streamed)
        ],
    }


def error_of(ask):
    try:
        ask()
    except openai.APIStatusError as error:
        return [error.status_code, str(error)]
    raise AssertionError("no error")


def errors(model):
    chat = openai.OpenAI(project=project, max_retries=0).chat.completions
    langchain = ChatOpenAI(model=model, max_retries=0, default_headers={"OpenAI-Project": project})
    return [
        error_of(lambda: chat.create(model=model, messages=MESSAGES)),
        error_of(lambda: list(chat.create(model=model, messages=MESSAGES, stream=True))),
        error_of(lambda: langchain.invoke("Say hello")),
    ]


answers = {
    model: errors(model) if refused else {"openai": by_openai(model), "langchain": by_langchain(model)}
    for model in models.split(",")
}
print(json.dumps(answers))
