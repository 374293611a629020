import assert from 'node:assert/strict'
import { trainingClientOf } from '../api/training/given.js'
import { tallytree } from '../support/command.js'
import { startRunningService, type RunningService } from '../support/running-service.js'

describe('tallytree jobs watch', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const watch = (job: string) =>
    tallytree(['jobs', 'watch', '--url', service.address, job], { TALLYTREE_API_KEY: service.key })

  it('follows a job to its end', async () => {
    const client = trainingClientOf(service, 'default/p')
    const model = (await client.createModel('agent'))['id'] as string
    const choices = await Promise.all(
      [1, 2, 3, 4].map(async (reward) => {
        const answer = (await client.chat('wandb-artifact:///default/p/agent')).json<{
          readonly choices: object[]
        }>()
        return { messages_and_choices: [{ role: 'user', content: 'hello' }, answer.choices[0]], reward }
      }),
    )
    const done = await watch(await client.createRl(model, [{ trajectories: choices }]))
    assert.equal(done.code, 0, done.stderr)
    assert.match(done.stdout, /^step 1 of 1: .*reward 2\.5/m)
    assert.match(done.stdout, /succeeded\n$/)
    const failed = await watch(
      await client.createRl(model, [
        { trajectories: [{ messages_and_choices: [{ role: 'user', content: 'x' }], reward: 1 }] },
      ]),
    )
    assert.equal(failed.code, 1)
    assert.match(failed.stdout, /failed: No answer in the trajectories has log probabilities/)
  })

  it('says what is wrong', async () => {
    const unknown = await watch('nothing')
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [2, 'tallytree: there is no such training job, or the API key has no access to its team\n'],
    )
    const keyless = await tallytree(['jobs', 'watch', 'x'])
    assert.match(keyless.stderr, /TALLYTREE_API_KEY must be set to a key of a member of the team/)
  })
})
