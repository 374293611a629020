"""Asks a model with one instrumentation of OpenTelemetry, whose spans go to the service.

exporting_spans.py INSTRUMENTATION UPSTREAM
"""

import sys

from openai import OpenAI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

instrumentation, upstream = sys.argv[1:]
messages = [{"role": "user", "content": "Say hello"}]


def provider() -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(made)
    return made


def ask() -> None:
    client = OpenAI(base_url=upstream, api_key="of-the-upstream", max_retries=0)
    client.chat.completions.create(model="chat-1", messages=messages)
    stream = client.chat.completions.create(
        model="chat-1", messages=messages, stream=True, stream_options={"include_usage": True}
    )
    for _ in stream:
        pass


def openinference() -> None:
    from openinference.instrumentation import using_attributes
    from openinference.instrumentation.openai import OpenAIInstrumentor

    made = provider()
    OpenAIInstrumentor().instrument(tracer_provider=made)
    with using_attributes(session_id="session-1", user_id="user-1", tags=["a", "b"]):
        with made.get_tracer("program").start_as_current_span("question"):
            ask()
    made.shutdown()


def traceloop() -> None:
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    made = provider()
    OpenAIInstrumentor().instrument(tracer_provider=made)
    with made.get_tracer("program").start_as_current_span("question"):
        ask()
    made.shutdown()


def pydantic_ai() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.instrumented import InstrumentationSettings
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    made = provider()
    model = OpenAIChatModel("chat-1", provider=OpenAIProvider(base_url=upstream, api_key="of-the-upstream"))
    Agent.instrument_all(InstrumentationSettings(tracer_provider=made))
    agent = Agent(model, name="asker")
    agent.run_sync("Say hello")
    agent.run_sync("Say hello")
    made.shutdown()


def langfuse() -> None:
    from langfuse import Langfuse
    from langfuse.openai import OpenAI as TracedOpenAI

    client = Langfuse()
    with client.start_as_current_observation(as_type="span", name="question"):
        traced = TracedOpenAI(base_url=upstream, api_key="of-the-upstream", max_retries=0)
        traced.chat.completions.create(model="chat-1", messages=messages)
        stream = traced.chat.completions.create(
            model="chat-1", messages=messages, stream=True, stream_options={"include_usage": True}
        )
        for _ in stream:
            pass
    client.flush()


{
    "openinference": openinference,
    "traceloop": traceloop,
    "pydantic-ai": pydantic_ai,
    "langfuse": langfuse,
}[instrumentation]()
