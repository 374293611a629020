"""Fine-tunes a model with the openai package and asks it. Prints what was answered, as JSON."""

import io
import json
import sys
import time

import openai

client = openai.OpenAI(project=sys.argv[1], max_retries=0)


def line(question, answer):
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return json.dumps({"messages": messages})


data = "\n".join([line("ping", "pong"), line("up", "down")] * 16)
file = client.files.create(file=("data.jsonl", io.BytesIO(data.encode())), purpose="fine-tune")
client.files.wait_for_processing(file.id)
job = client.fine_tuning.jobs.create(
    model="tiny/byte",
    training_file=file.id,
    method={"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": 8, "batch_size": 4}}},
)
while job.finished_at is None:
    time.sleep(0.2)
    job = client.fine_tuning.jobs.retrieve(job.id)


def answer(question):
    completion = client.chat.completions.create(
        model=job.fine_tuned_model,
        messages=[{"role": "user", "content": question}],
        temperature=0,
        max_completion_tokens=8,
    )
    return completion.choices[0].message.content


events = list(client.fine_tuning.jobs.list_events(job.id))
checkpoints = list(client.fine_tuning.jobs.checkpoints.list(job.id))
print(
    json.dumps(
        {
            "status": job.status,
            "answers": [answer("ping"), answer("up")],
            "events": len(events),
            "checkpoints": [one.step_number for one in checkpoints],
            "listed": [one.id for one in client.fine_tuning.jobs.list()] == [job.id],
        }
    )
)
