import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { COUNTS } from '../../counts.js'
import { until } from '../../support/until.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const TOKENS = 400
const MODEL = 'wandb-artifact:///default/p/agent'

/** Until the request is answered. */
const patiently = async <A>(ask: () => Promise<A | undefined>): Promise<A> => {
  for (;;) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined) return answer
    await sleep(50)
  }
}

const trajectory = (reward: number) => {
  const token_ids = Array.from({ length: TOKENS }, (_, at) => 97 + ((at * 7 + reward) % 26))
  const content = token_ids.map((token) => ({
    token: `token_id:${token}`,
    logprob: -3,
    bytes: [],
    top_logprobs: [],
  }))
  return {
    reward,
    messages_and_choices: [
      { role: 'user', content: 'x' },
      {
        index: 0,
        finish_reason: 'length',
        message: { role: 'assistant', content: 'y' },
        token_ids,
        prompt_token_ids: [256, 258, 120, 263, 259],
        logprobs: { content },
      },
    ],
  }
}

describe('training jobs of a service that is killed', function () {
  this.timeout(900_000)

  it('end once, in order, with all their events and whole checkpoints', async () => {
    const service = await startRunningService()
    try {
      const ask = <A>(method: string, path: string, body?: unknown) =>
        patiently(async () => {
          const answer = await service.send(method, path, body)
          return answer.status === 200 ? answer.json<A>() : undefined
        })
      const { id } = await ask<{ id: string }>('POST', '/v1/preview/models', {
        entity: 'default',
        project: 'p',
        name: 'agent',
        base_model: 'tiny/byte',
        return_existing: true,
      })
      const groups = [{ trajectories: [0, 1, 2, 3, 4, 5].map(trajectory) }]
      const jobs: string[] = []
      const over = new AbortController()
      const creating = (async () => {
        while (!over.signal.aborted) {
          const body = {
            model_id: id,
            trajectory_groups: groups,
            experimental_config: { learning_rate: 1e-4 },
          }
          jobs.push((await ask<{ id: string }>('POST', '/v1/preview/training-jobs', body)).id)
          await sleep(150)
        }
      })()
      for (let round = 0; round < COUNTS.trainingKills; round += 1) {
        // A job fails after five losses without progress, and a slow machine makes none between kills.
        if (round % 4 === 0) await nextCheckpoint(service, id)
        await sleep(300 + 97 * (round % 9))
        await service.kill('SIGKILL')
        await service.restart()
      }
      over.abort()
      await creating
      assert.ok(jobs.length >= COUNTS.trainingKills, `${jobs.length} jobs`)
      for (const job of jobs) await ended(service, job)
      const steps = await stepsOf(service, id)
      assert.deepEqual(
        steps,
        steps.map((_, at) => at + 1),
      )
      // A request whose answer was lost may have made a job too.
      assert.ok(steps.length >= jobs.length, `${steps.length} checkpoints of ${jobs.length} jobs`)
      for (const step of [1, Math.ceil(steps.length / 2), steps.length]) {
        const messages = [{ role: 'user', content: 'x' }]
        const answer = await service.post('/v1/chat/completions', {
          model: `${MODEL}:step${step}`,
          messages,
          max_tokens: 2,
        })
        assert.equal(answer.status, 200, answer.text)
      }
    } finally {
      await service.remove()
    }
  })
})

interface Page<A> {
  readonly data: readonly A[]
  readonly has_more: boolean
}

const ended = async (service: RunningService, job: string): Promise<void> => {
  const types = await patiently(async () => {
    const answer = await service.send('GET', `/v1/preview/training-jobs/${job}/events?limit=100`)
    if (answer.status !== 200) return undefined
    const events = answer.json<Page<{ type: string }>>().data.map(({ type }) => type)
    return events.some((type) => type === 'training_ended' || type === 'training_failed') ? events : undefined
  })
  assert.deepEqual(types, ['training_started', 'gradient_step', 'training_ended'])
}

const nextCheckpoint = async (service: RunningService, model: string): Promise<void> => {
  const before = (await stepsOf(service, model)).length
  await until(async () => (await stepsOf(service, model)).length > before)
}

const stepsOf = async (service: RunningService, model: string): Promise<readonly number[]> => {
  const steps: number[] = []
  let after = ''
  for (;;) {
    const answer = await service.send('GET', `/v1/preview/models/${model}/checkpoints?limit=100${after}`)
    const { data, has_more } = answer.json<Page<{ id: string; step: number }>>()
    steps.push(...data.map(({ step }) => step))
    if (!has_more) return steps
    after = `&after=${data.at(-1)!.id}`
  }
}
