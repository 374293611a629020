import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { connectClickHouseServer } from '../../../src/adapters/clickhouse/server.js'
import {
  describeWithClickHouseServer,
  isOnServer,
  startClickHouseServer,
  type ClickHouseServer,
} from '../../support/clickhouse-server.js'
import { engineDirectory } from '../../support/engine.js'
import { foundIn, planted } from '../../support/planted-texts.js'
import { startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { accepted } from '../calls/given.js'
import { erase, feedbackOn, large } from './planted.js'

const PROJECT = 'default/planted'

/** Of docs/scaling-out.md, for a database with the user's name. */
const GRANTS = [
  'SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, CHECK ON erasing.*',
  'SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE ON `erasing_rebuild_`*.*',
  'TABLE ENGINE ON *',
  'SYSTEM CLEANUP ON erasing.*',
  'SELECT ON system.*',
].map((grant) => `<query>GRANT ${grant}</query>`)

const start = async (...given: Parameters<typeof startTestService>) => {
  let directory = ''
  const [environment, openClickHouse] = given
  const service = await startTestService(environment, openClickHouse, (config) => {
    directory = config.dataDirectory
    return config
  })
  return { service, directory }
}

const textsOf = (service: TestService) => async (): Promise<string> => {
  const { calls, feedback } = service.in(PROJECT)
  const answers = [
    await calls.query({}),
    await feedback.query({}),
    await service.send('GET', '/api/events?limit=1000'),
  ]
  for (const { status, text } of answers) assert.equal(status, 200, text)
  return answers.map(({ text }) => text).join('\n')
}

/** For a suite: a service, and the directories that have its data. */
const ownService = () => {
  const own = {} as { service: TestService; directories: readonly string[] }
  before(async () => {
    const { service, directory } = await start()
    own.service = service
    own.directories = isOnServer ? [directory] : [directory, engineDirectory]
  })
  after(() => own.service.stop())
  return own
}

describe('feedback on calls whose content is erased', () => {
  const suite = ownService()

  it('loses every planted text, also of replaced and purged feedback, and keeps its numbers', async () => {
    const { service, directories } = suite
    const answers = textsOf(service)
    const { calls, feedback } = service.in(PROJECT)
    await calls.start({ id: 'erased' }).json()
    await calls.start({ id: 'kept' }).json()
    const texts = await feedbackOn(service, PROJECT, 'erased')
    const kept = await feedbackOn(service, PROJECT, 'kept')
    await service.in(PROJECT).calls.query({})
    assert.deepEqual(foundIn(directories, texts), [...texts].sort())
    const before = await answers()
    assert.ok(texts.filter((text) => before.includes(text)).length > 5)

    const { events, blobs_deleted } = await erase(service, PROJECT, ['erased'])
    assert.deepEqual([events, blobs_deleted], [8, 1])
    assert.deepEqual(foundIn(directories, texts), [])
    assert.deepEqual(foundIn(directories, kept), [...kept].sort())
    const after = await answers()
    assert.deepEqual(
      texts.filter((text) => after.includes(text)),
      [],
    )
    const { result } = accepted(await feedback.query({})) as { result: JsonObject[] }
    const ref = `weave:///${PROJECT}/call/erased`
    const payloads = result
      .filter(({ weave_ref }) => weave_ref === ref)
      .map(({ feedback_type, payload }) => [feedback_type, payload])
    assert.deepEqual(
      payloads.find(([type]) => type === 'wandb.runnable.judge'),
      ['wandb.runnable.judge', { output: { score: 0.5 } }],
    )
    assert.equal(payloads.length, 5)
  })
})

describe('files of calls, after a policy ran', () => {
  const suite = ownService()

  it('are gone unless newer calls name them too', async () => {
    const { service, directories } = suite
    const [own, shared, output] = [planted('own'), planted('shared'), planted('output')]
    const now = new Date().toISOString()
    const { calls } = service.in(PROJECT)
    await calls
      .complete([
        { id: 'old', inputs: { long: large(own) }, output: large(output) },
        { id: 'old-too', inputs: { long: large(shared) }, output: null },
        { id: 'new', inputs: { long: large(shared) }, started_at: now, ended_at: now, output: null },
      ])
      .json()
    const texts = [own, shared, output]
    assert.deepEqual(foundIn(directories, texts), [...texts].sort())
    const settings = `/api/projects/${PROJECT}`
    accepted(await service.send('PUT', settings, { retention: { content_days: 30 } }))
    let latest: JsonObject | undefined
    await until(async () => {
      const { data } = accepted(await service.send('GET', `${settings}/erasures`))
      latest = (data as readonly JsonObject[])[0]
      return latest?.['state'] === 'finished'
    })
    assert.deepEqual([latest!['requested_by'], latest!['calls'], latest!['blobs_deleted']], ['policy', 2, 2])
    assert.deepEqual(foundIn(directories, texts), [shared])
    const { text } = await calls.query({})
    assert.deepEqual(
      texts.filter((one) => text.includes(one)),
      [shared],
    )
  })
})

describeWithClickHouseServer('an erasure over a ClickHouse server', () => {
  let server: ClickHouseServer
  let service: TestService
  let directories: readonly string[]
  before(async () => {
    server = await startClickHouseServer({
      users: `<erasing><password>hidden</password><profile>default</profile><grants>${GRANTS.join('')}</grants></erasing>`,
    })
    const url = `${server.url.replace('//', '//erasing:hidden@')}/erasing`
    const started = await start({ CLICKHOUSE_URL: url }, (health) =>
      Promise.resolve(connectClickHouseServer(url, { health })),
    )
    service = started.service
    directories = [started.directory, server.directory]
  })
  after(async () => {
    await service.stop()
    await server.stop()
  })

  it('leaves no planted text in the files of the service and of the server, with the documented grants', async () => {
    const answers = textsOf(service)
    const texts = ['inputs', 'attributes', 'output', 'summary', 'exception'].map(planted)
    const [inputs, attributes, output, summary, exception] = texts
    const { calls } = service.in(PROJECT)
    const call = (id: string, more: object) => ({ id, ...more })
    const kept = planted('kept')
    await calls
      .complete([
        call('erased', {
          ...{ inputs: { inputs }, attributes: { attributes }, output: { output }, exception },
          summary: { summary, usage: { small: { requests: 1, prompt_tokens: 3 } } },
        }),
        call('kept', { inputs: { kept } }),
      ])
      .json()
    const all = [...texts, ...(await feedbackOn(service, PROJECT, 'erased'))]
    await answers()
    assert.deepEqual(foundIn(directories, all), [...all].sort())
    assert.deepEqual(foundIn([server.directory], texts), [...texts].sort())
    const usage = await service.in(PROJECT).usage.query({ group_by: ['model'] })

    await erase(service, PROJECT, ['erased'])
    assert.deepEqual(foundIn(directories, all), [])
    assert.deepEqual(foundIn([server.directory], [kept]), [kept])
    const after = await answers()
    assert.deepEqual(
      all.filter((text) => after.includes(text)),
      [],
    )
    assert.equal((await service.in(PROJECT).usage.query({ group_by: ['model'] })).text, usage.text)
    assert.deepEqual(
      service.logged.filter(({ level }) => level !== 'info'),
      [],
    )
  })
})
