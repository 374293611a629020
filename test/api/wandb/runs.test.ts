import assert from 'node:assert/strict'
import { sha256, systemIds } from '../../../src/adapters/system/system.js'
import { runningRuns } from '../../../src/projections/runs/queries.js'
import { endCrashedRuns } from '../../../src/application/runs/crashed.js'
import { openRuns } from '../../../src/application/runs/runs.js'
import type { ClickHouseReader } from '../../../src/kernel/ports/clickhouse.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, writesNothing } from '../calls/given.js'
import { dataOf, memberOf } from '../graphql/given.js'
import { clientOf, put, someRun } from './given.js'

const rows = (from: number, count: number, more = '') =>
  Array.from({ length: count }, (_, at) => `{"_step":${from + at},"loss":${1 / (from + at + 1)}${more}}`)

/** Other tests of this service have runs that go on. */
const ofProject = (
  reader: Pick<ClickHouseReader, 'query'>,
  project: string,
): Pick<ClickHouseReader, 'query'> => ({
  query: async <Row>(sql: string) => {
    const found = await reader.query<{ readonly project_id: string }>(sql)
    return found.filter(({ project_id }) => project_id === project) as unknown as readonly Row[]
  },
})

describe('a run of the package wandb', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const typesIn = async (project: string, run: string) =>
    (await eventsOf(service, `run-${project}/${run}`)).map(({ type }) => type)

  it('has each line once, whatever is sent again, and keeps NaN', async () => {
    const [project, run] = [someProject(), someRun()]
    const client = clientOf(service, project)
    assert.equal((await client.init(run)).inserted, true)
    await client.log(run, 0, rows(0, 3))
    await writesNothing(service, () => client.log(run, 0, rows(0, 3)))
    await client.log(run, 2, [...rows(2, 1), '{"_step":3,"loss":NaN}'])
    const { historyLineCount, history, historyKeys, historyTail } = await client.run(
      run,
      'historyLineCount history(minStep: 1, maxStep: 9, samples: 8) historyKeys historyTail',
    )
    assert.equal(historyLineCount, 4)
    assert.deepEqual(history, [...rows(1, 2), '{"_step":3,"loss":NaN}'])
    assert.equal(historyKeys.lastStep, 3)
    assert.deepEqual(historyKeys.keys.loss.typeCounts, [{ type: 'number', count: 4 }])
    assert.deepEqual(JSON.parse(historyTail), ['{"_step":3,"loss":NaN}'])
  })

  it('ends once, takes late lines, and goes on when a program begins again', async () => {
    const [project, run] = [someProject(), someRun()]
    const client = clientOf(service, project)
    await client.init(run)
    const end = { complete: true, exitcode: 0 }
    await client.log(run, 0, rows(0, 1), end)
    await writesNothing(service, () => client.log(run, 0, rows(0, 1), end))
    await client.log(run, 1, rows(1, 1))
    assert.equal((await client.run(run, 'state')).state, 'finished')
    assert.deepEqual(await client.init(run), {
      inserted: false,
      bucket: { ...(await client.run(run, 'id name historyLineCount')), state: 'running' },
    })
    // The steps of a second process begin at 0, its lines do not.
    await client.log(run, 2, rows(0, 1), { complete: true, exitcode: 1 })
    const { state, history } = await client.run(run, 'state history(minStep: 0, maxStep: 1, samples: 9)')
    assert.deepEqual([state, history], ['failed', [...rows(0, 1), ...rows(0, 1)]])
    assert.deepEqual(await typesIn(project, run), [
      'RunStarted',
      'RunDescribed',
      'HistoryLogged',
      'RunFinished',
      'HistoryLogged',
      'RunResumed',
      'HistoryLogged',
      'RunFailed',
    ])
  })

  it('has all lines of a page of steps, which a second process repeats', async () => {
    const [project, run] = [someProject(), someRun()]
    const client = clientOf(service, project)
    await client.init(run)
    await client.log(run, 0, rows(0, 4))
    await client.log(run, 4, rows(0, 4))
    const pageFrom = async (from: number) =>
      (await client.run(run, `history(minStep: ${from}, maxStep: ${from + 2}, samples: 2)`)).history
    assert.deepEqual(await pageFrom(0), [...rows(0, 2), ...rows(0, 2)])
    assert.deepEqual(await pageFrom(2), [...rows(2, 2), ...rows(2, 2)])
  })

  it('is never refused for what it logs', async () => {
    const [project, run] = [someProject(), someRun()]
    const client = clientOf(service, project)
    await client.init(run)
    const deep = `{"a":${'['.repeat(300000)}${']'.repeat(300000)}}`
    const long = `{"a":"${'x'.repeat(10_000_000)}"}`
    for (const body of [
      {},
      { files: null },
      { files: { 'wandb-history.jsonl': 'no object' } },
      { files: { 'wandb-history.jsonl': { offset: -1, content: ['[]', 'no JSON', 3] } } },
      { files: { 'wandb-summary.json': { offset: 0, content: ['no JSON'] } }, uploaded: 7, complete: 'yes' },
      { files: { 'output.log': { offset: 0, content: ['line'] } }, unknown: 1 },
      { files: { 'wandb-history.jsonl': { offset: 3, content: ['{"a":"\u0000\ud800"}', deep, long] } } },
    ])
      accepted(await client.stream(run, body))
    const { historyLineCount, history } = await client.run(run, 'historyLineCount history(samples: 9)')
    assert.equal(historyLineCount, 6)
    assert.deepEqual(history.slice(0, 3), ['{}', '{}', '{}'])
    assert.ok(history[4] === '{}' && history[5] === long)
    accepted(await service.send('GET', `/api/runs/${project}/${run}/history`))
    assert.equal((await client.stream('unknown', {})).status, 404)
  })

  it('keeps its configuration and summary as they are, large ones too', async () => {
    const [project, run] = [someProject(), someRun()]
    const client = clientOf(service, project)
    const deep = `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`
    await assert.rejects(
      client.init(run, { config: deep }),
      /input\.config should be .* of at most 256 levels/,
    )
    const config = JSON.stringify({ note: { value: 'x'.repeat(400_000) } }).replace('}}', ',"n":NaN}}')
    await client.init(run, { config, displayName: 'a name', tags: ['a'], groupName: 'g' })
    await client.log(run, 0, [], {
      files: { 'wandb-summary.json': { offset: 0, content: ['{"loss":{"min":NaN}}'] } },
    })
    const read = await client.run(run, 'config summaryMetrics displayName tags group')
    assert.deepEqual(read, {
      config,
      summaryMetrics: '{"loss":{"min":NaN}}',
      displayName: 'a name',
      tags: ['a'],
      group: 'g',
    })
    // Null keeps a value.
    await client.graphQl(
      'mutation ($input: UpsertBucketInput!) { upsertBucket(input: $input) { inserted } }',
      {
        input: {
          id: (await client.run(run, 'id')).id,
          displayName: 'another',
          config: null,
          cloudRegionID: null,
        },
      },
    )
    assert.deepEqual(await client.run(run, 'config displayName tags'), {
      config,
      displayName: 'another',
      tags: ['a'],
    })
  })

  it('has long histories, which automations and readers see whole', async () => {
    const [project, run] = [someProject(), someRun()]
    const client = clientOf(service, project)
    await client.init(run)
    const all = rows(0, 30_000, ',"text":"ü"')
    await client.log(run, 0, all.slice(0, 20_000))
    await client.log(run, 20_000, all.slice(20_000))
    const events = await eventsOf(service, `run-${project}/${run}`)
    const logged = events.filter(({ type }) => type === 'HistoryLogged')
    assert.ok(logged.length >= 2 && logged.every(({ data }) => data['lines'] === null))
    for (const from of [0, 19_500, 29_000]) {
      const { history } = await client.run(
        run,
        `history(minStep: ${from}, maxStep: ${from + 1000}, samples: 1000)`,
      )
      assert.deepEqual(history, all.slice(from, from + 1000))
    }
    const { sampledHistory, historyLineCount } = await client.run(
      run,
      `historyLineCount sampledHistory(specs: ["{\\"keys\\":[\\"loss\\"],\\"samples\\":3}"])`,
    )
    assert.equal(historyLineCount, 30_000)
    assert.deepEqual(
      sampledHistory[0].map(({ _step }: { _step: number }) => _step),
      [0, 14_999, 29_999],
    )
  })

  it('is answered what older clients ask before they synchronise a folder', async () => {
    const client = clientOf(service, someProject())
    const { ServerSettingsType } = dataOf(
      await client.graphQl('{ ServerSettingsType: __type(name: "ServerSettings") { fields { name } } }', {}),
    )
    assert.deepEqual(ServerSettingsType.fields, [{ name: 'serverMessages' }])
    const { upsertBucket } = dataOf(
      await client.graphQl(
        `mutation { upsertBucket(input: { name: "one" }) { inserted serverSettings { serverMessages {
          utfText plainText htmlText messageType messageLevel } } } }`,
        {},
      ),
    )
    assert.deepEqual(upsertBucket.serverSettings, { serverMessages: [] })
  })

  it('is found by keys of its configuration and its summary with dots, flat or nested', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const [e, p] = project.split('/') as [string, string]
    const configs = {
      nested: '{"model":{"value":{"type":"gpt","size":{"heads":3}}}}',
      flat: '{"model.type":{"value":"gpt"},"model.size.heads":{"value":2}}',
      both: '{"model":{"value":{"type":"bert"}},"model.size":{"value":{"heads":1}},"odd/\\"key.x":{"value":1}}',
    }
    for (const [run, config] of Object.entries(configs)) await client.init(run, { config })
    for (const [run, summary] of [
      ['nested', '{"val":{"loss":1}}'],
      ['flat', '{"val.loss":2}'],
    ] as const)
      await client.log(run, 0, [], { files: { 'wandb-summary.json': { offset: 0, content: [summary] } } })
    const found = async (filters: object, order = '+name') => {
      const { project: read } = dataOf(
        await client.graphQl(
          `query ($e: String, $p: String, $f: JSONString, $o: String) { project(entityName: $e, name: $p) {
            runs(filters: $f, order: $o) { edges { node { name } } } } }`,
          { e, p, f: JSON.stringify(filters), o: order },
        ),
      )
      return (read.runs.edges as readonly { node: { name: string } }[]).map(({ node }) => node.name)
    }
    assert.deepEqual(await found({ 'config.model.type': 'gpt' }), ['flat', 'nested'])
    assert.deepEqual(await found({ 'config.model.type.value': 'gpt' }), ['flat'])
    assert.deepEqual(await found({ 'config.model.value.type': 'gpt' }), ['nested'])
    assert.deepEqual(await found({ 'config.model.size.heads': { $gte: 1 } }, '+config.model.size.heads'), [
      'both',
      'flat',
      'nested',
    ])
    assert.deepEqual(await found({}, '-config.model.size.heads'), ['nested', 'flat', 'both'])
    assert.deepEqual(await found({ 'config.model.type': { $ne: 'gpt' } }), ['both'])
    assert.deepEqual(await found({ 'config.odd/"key.x': 1 }), ['both'])
    assert.deepEqual(await found({ 'summary_metrics.val.loss': { $gt: 0 } }), ['flat', 'nested'])
  })

  it('has files, of which the last content counts', async () => {
    const [project, run] = [someProject(), someRun()]
    const client = clientOf(service, project)
    const [entityName, projectName] = project.split('/')
    await client.init(run)
    const store = async (content: string) => {
      const { createRunFiles } = dataOf(
        await client.graphQl(
          'mutation ($input: CreateRunFilesInput!) { createRunFiles(input: $input) { uploadHeaders files { name uploadUrl } } }',
          {
            input: {
              entityName: entityName!,
              projectName: projectName!,
              runName: run,
              files: ['media/a b.txt'],
            },
          },
        ),
      )
      assert.equal((await put(createRunFiles.files[0].uploadUrl, content)).status, 200)
    }
    await store('first')
    await store('second')
    const { files } = await client.run(
      run,
      'files(pattern: "media/%") { edges { node { name sizeBytes directUrl } } }',
    )
    const [{ node }] = files.edges
    assert.deepEqual([files.edges.length, node.name, node.sizeBytes], [1, 'media/a b.txt', 6])
    assert.equal(await (await fetch(node.directUrl)).text(), 'second')
  })

  it('is found by filters; unsupported filters are refused', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const [e, p] = project.split('/') as [string, string]
    await client.init('one', { displayName: 'train-1', config: '{"lr":{"value":0.1}}', tags: ['a'] })
    await client.init('two', {
      displayName: 'train-2',
      config: '{"lr":{"value":0.01},"deep":{"value":{"x":1}}}',
    })
    await client.log('two', 0, [], {
      files: { 'wandb-summary.json': { offset: 0, content: ['{"acc":0.9}'] } },
      complete: true,
      exitcode: 0,
    })
    const found = async (filters: object | string, order = '+created_at') => {
      const told = await client.graphQl(
        `query ($e: String, $p: String, $f: JSONString, $o: String) { project(entityName: $e, name: $p) {
          runCount(filters: $f) runs(filters: $f, order: $o, first: 1) { edges { node { name } cursor } pageInfo { hasNextPage } } } }`,
        { e, p, f: typeof filters === 'string' ? filters : JSON.stringify(filters), o: order },
      )
      if (told.errors !== undefined) return told.errors[0]!.message
      const { runCount, runs } = told.data!['project']
      return [
        runCount,
        runs.edges.map(({ node }: { node: { name: string } }) => node.name),
        runs.pageInfo.hasNextPage,
      ]
    }
    assert.deepEqual(await found({}), [2, ['one'], true])
    assert.deepEqual(await found({}, '-created_at'), [2, ['two'], true])
    assert.deepEqual(await found({ 'config.lr': { $gt: 0.05 } }), [1, ['one'], false])
    assert.deepEqual(await found({ 'config.deep.x': 1 }), [1, ['two'], false])
    assert.deepEqual(await found({ 'config.lr.value': { $lte: 0.01 }, state: 'finished' }), [
      1,
      ['two'],
      false,
    ])
    assert.deepEqual(await found({ $or: [{ tags: 'a' }, { 'summary_metrics.acc': 0.9 }] }), [
      2,
      ['one'],
      true,
    ])
    assert.deepEqual(await found({ display_name: { $regex: '^train-2$' } }), [1, ['two'], false])
    assert.deepEqual(await found({ displayName: { $not: { $regex: '2' } }, name: { $ne: 'x' } }), [
      1,
      ['one'],
      false,
    ])
    assert.deepEqual(await found({ state: { $nin: ['running'] } }), [1, ['two'], false])
    assert.deepEqual(await found({ 'summary_metrics.acc': { $exists: false } }), [1, ['one'], false])
    // No run has a sweep, which dashboards leave out.
    for (const none of [null, { $eq: null }, { $exists: false }, { $nin: ['x'] }, { $ne: 'x' }])
      assert.deepEqual(await found({ sweep: none }), [2, ['one'], true])
    for (const some of ['x', { $ne: null }, { $exists: true }, { $in: ['x'] }])
      assert.deepEqual(await found({ sweep: some }), [0, [], false])
    assert.match(String(await found({ display_name: { $regex: '(' } })), /\$regex/)
    assert.match(String(await found({ nothing: 1 })), /cannot have the field nothing/)
    assert.match(String(await found({ state: { $where: 1 } })), /cannot have the operator \$where/)
    assert.match(String(await found('{')), /JSON/)
  })

  it('has crashed when its program was not heard of for a quarter of an hour', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    await client.init('silent')
    await client.init('ended')
    await client.log('ended', 0, rows(0, 1), { complete: true, exitcode: 0 })
    accepted(
      await service.post(`/api/runs/${project}`, { name: 'of a program without heartbeats', id: 'other' }),
    )
    await client.run('ended', 'outputArtifacts { totalCount }')
    const { eventStore, blobs, clickHouse } = service.stores
    const ports = { eventStore, blobs, ids: systemIds, sha256 }
    const pass = async (minutes: number) => {
      const clock = { now: () => new Date(Date.now() + minutes * 60_000) }
      const running = await runningRuns(ofProject(clickHouse.reader, project))
      return endCrashedRuns({ clock, ids: systemIds }, running, openRuns(ports))
    }
    assert.equal(await pass(14), 0)
    assert.equal(await pass(16), 1)
    assert.equal(await pass(17), 0)
    assert.equal((await client.run('silent', 'state')).state, 'crashed')
    accepted(await client.stream('silent', {}))
    assert.equal((await client.run('silent', 'state')).state, 'running')
  })

  it('is listed, and its history read, without the package', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    const get = async (path: string) => accepted(await service.send('GET', `/api/runs/${project}${path}`))
    await client.init('one', { displayName: 'first', config: '{"lr":{"value":0.1}}' })
    await client.init('two')
    await client.log('one', 0, [
      '{"_step":0,"loss":1}',
      '{"_step":1,"loss":NaN,"deep":{"a":2}}',
      '{"_step":2}',
    ])
    const ids = async (query: string) => {
      const { data, next } = await get(query)
      return [(data as readonly { id: string }[]).map(({ id }) => id), next]
    }
    assert.deepEqual(await ids('?order=created_at&limit=1'), [['one'], '1'])
    assert.deepEqual(await ids('?order=created_at&limit=1&after=1'), [['two'], null])
    assert.deepEqual(await ids(`?filters=${encodeURIComponent('{"config.lr":0.1}')}`), [['one'], null])
    const history = async (query: string) => (await get(`/one/history${query}`))['rows']
    assert.deepEqual(await history('?keys=deep.a'), [{ _step: 1, 'deep.a': 2 }])
    assert.deepEqual(await history('?min_step=1&max_step=2'), [{ _step: 1, loss: 'NaN', deep: { a: 2 } }])
    assert.deepEqual(await history('?samples=2'), [{ _step: 0, loss: 1 }, { _step: 2 }])
    for (const query of ['?filters={', '?filters={"x":1}', '?after=x', '?order=x'])
      assert.equal((await service.send('GET', `/api/runs/${project}${query}`)).status, 422, query)
    const { config, history_lines } = await get('/one')
    assert.deepEqual([config, history_lines], [{ lr: { value: 0.1 } }, 3])
  })

  it('is asked to stop with the next answer, until it ends', async () => {
    const project = someProject()
    const client = clientOf(service, project)
    await client.init('one')
    const { id } = await client.run('one', 'id')
    const stop = 'mutation ($input: StopRunInput!) { stopRun(input: $input) { success } }'
    assert.deepEqual(await client.log('one', 0, ['{"a":1}']), {})
    for (let n = 0; n < 2; n += 1)
      assert.deepEqual(dataOf(await client.graphQl(stop, { input: { id } })), { stopRun: { success: true } })
    assert.equal((await client.run('one', 'stopped')).stopped, true)
    assert.deepEqual(await client.log('one', 1, ['{"a":2}']), { stopped: true })
    assert.deepEqual(await client.log('one', 2, [], { complete: true, exitcode: 255 }), {})
    await client.init('one')
    assert.deepEqual(await client.log('one', 2, ['{"a":3}']), {})
    assert.equal((await client.run('one', 'stopped')).stopped, false)
  })

  it('that was deleted is gone, and its id is not used again', async () => {
    const project = someProject()
    const [entityName, modelName] = project.split('/') as [string, string]
    const client = clientOf(service, project)
    for (const run of ['one', 'two']) await client.init(run)
    const { id } = await client.run('one', 'id')
    const deletion = 'mutation ($input: DeleteRunInput!) { deleteRun(input: $input) { clientMutationId } }'
    for (let n = 0; n < 2; n += 1) dataOf(await client.graphQl(deletion, { input: { id } }))
    assert.equal(await client.run('one', 'id'), null)
    assert.equal((await service.send('GET', `/api/runs/${project}/one`)).status, 404)
    const { data } = accepted(await service.send('GET', `/api/runs/${project}`))
    assert.deepEqual(
      (data as readonly { id: string }[]).map((run) => run.id),
      ['two'],
    )
    assert.equal((await client.stream('one', {})).status, 404)
    const again = await client.graphQl(
      'mutation ($input: UpsertBucketInput!) { upsertBucket(input: $input) { inserted } }',
      { input: { entityName, modelName, name: 'one' } },
    )
    assert.equal(again.errors?.[0]?.message, 'The run was deleted. A new run needs another id.')
    const absent = id.replace(/.*/, Buffer.from('Run:none').toString('base64'))
    for (const input of [{ id: 'x' }, { id: absent }])
      assert.match((await client.graphQl(deletion, { input })).errors?.[0]?.message ?? '', /Run not found/)
  })

  it('of another team is as if it were not there', async () => {
    const [mine, other] = [await memberOf(service, 'mine'), await memberOf(service, 'other')]
    const project = `${other.teams[0]}/p`
    await clientOf(service, project, other.options).init('secret')
    const stranger = clientOf(service, project, mine.options)
    const told = await stranger.graphQl(
      'query ($e: String) { project(entityName: $e, name: "p") { run(name: "secret") { id } } }',
      { e: other.teams[0]! },
    )
    assert.deepEqual(told, { data: { project: null } })
    assert.equal((await stranger.stream('secret', {})).status, 404)
    const upsert = await stranger.graphQl(
      'mutation ($input: UpsertBucketInput!) { upsertBucket(input: $input) { inserted } }',
      { input: { entityName: other.teams[0]!, modelName: 'p', name: 'secret' } },
    )
    assert.match(upsert.errors?.[0]?.message ?? '', /Project not found/)
  })
})
