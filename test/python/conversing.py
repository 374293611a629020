"""Has a conversation inside an op, by the conversation API of the package weave. Prints the id of the op's call."""

import sys

import weave

client = weave.init(sys.argv[1])


@weave.op
def ask(question: str) -> str:
    with weave.start_conversation(conversation_id="conversation-1", agent_name="asker"):
        with weave.start_turn(user_message=question):
            with weave.start_llm(model="chat-1", provider_name="openai") as llm:
                llm.record(
                    input_messages=[weave.Message(role="user", content=question)],
                    output_messages=[weave.Message(role="assistant", content="Hello")],
                    usage=weave.Usage(input_tokens=11, output_tokens=3),
                )
    return "Hello"


_, call = ask.call("Say hello")
client.finish()
print(call.id)
