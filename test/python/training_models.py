"""Trains a model with the package openpipe-art, and prints what it saw as JSON.

  python training_models.py URL KEY
"""

import asyncio
import json
import os
import sys
import tempfile

URL, KEY = sys.argv[1:]
scratch = tempfile.mkdtemp()
os.chdir(scratch)
os.environ.update(
    WANDB_BASE_URL=URL,
    WF_TRACE_SERVER_URL=URL,
    WANDB_DISABLE_WEAVE="true",
    WANDB_SILENT="true",
    WANDB_DIR=scratch,
    LITELLM_LOCAL_MODEL_COST_MAP="True",
)
os.environ.pop("WANDB_API_KEY", None)

import art  # noqa: E402
from art.serverless import ServerlessBackend  # noqa: E402


def reward_of(text):
    return sum(letter in "aeiou" for letter in text) / max(len(text), 1)


async def rollout(model):
    messages = [{"role": "user", "content": "say vowels"}]
    answer = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages, max_tokens=16
    )
    choice = answer.choices[0]
    return art.Trajectory(messages_and_choices=[*messages, choice], reward=reward_of(choice.message.content or ""))


async def captured(model):
    with art.Trajectory() as trajectory:
        await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=[{"role": "user", "content": "hello"}], max_tokens=8
        )
    trajectory.reward = 1.0
    return trajectory


async def main():
    backend = ServerlessBackend(api_key=KEY, base_url=f"{URL}/v1")
    model = art.TrainableModel(
        name="agent", run_name="agent", project="trained", base_model="tiny/byte", base_path=f"{scratch}/.art"
    )
    await model.register(backend)
    steps = [await model.get_step()]
    means = []
    for _ in range(12):
        groups = await art.gather_trajectory_groups(
            [art.TrajectoryGroup(rollout(model) for _ in range(16))], pbar_desc=None, max_exceptions=0
        )
        rewards = [trajectory.reward for group in groups for trajectory in group]
        means.append(sum(rewards) / len(rewards))
        result = await backend.train(model, groups, learning_rate=1e-2)
        steps.append(result.step)
    exchanged = art.TrajectoryGroup([await captured(model), await captured(model)])
    steps.append((await backend.train(model, [exchanged])).step)
    pairs = [("ping", "pong"), ("up", "down")] * 16
    data = [
        art.Trajectory(
            messages_and_choices=[{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        )
        for question, answer in pairs
    ]
    for _ in range(4):
        await model.train_sft(data, art.TrainSFTConfig(learning_rate=3e-3, batch_size=4))
    answers = []
    for question in ("ping", "up"):
        answer = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=[{"role": "user", "content": question}], temperature=0, max_tokens=8
        )
        answers.append(answer.choices[0].message.content)
    await model.delete_checkpoints()
    kept = [one.step async for one in backend._client.models.checkpoints.list(model_id=model.id)]
    await backend.delete(model)
    await backend.close()
    print(
        json.dumps(
            {
                "steps": steps,
                "rises": sum(means[-3:]) > 1.5 * sum(means[:3]),
                "answers": answers,
                "kept": 0 < len(kept) <= 2,
            }
        )
    )


asyncio.run(main())
