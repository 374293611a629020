import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, writesNothing } from '../calls/given.js'
import { dataOf } from '../graphql/given.js'
import { clientOf } from './given.js'

describe('the system metrics and the console of a run of the package wandb', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const started = async () => {
    const project = someProject()
    const client = clientOf(service, project)
    await client.init('one')
    const send = async (files: JsonObject, writer?: string) =>
      accepted(
        await service.post(
          `/files/${project}/one/file_stream`,
          { files },
          { headers: writer === undefined ? {} : { 'X-WANDB-ASYNC-CLIENT-ID': writer } },
        ),
      )
    const get = async (path: string) => accepted(await service.send('GET', `/api/runs/${project}/one${path}`))
    return { project, client, send, get }
  }
  const events = (offset: number, rows: readonly JsonObject[]) => ({
    'wandb-events.jsonl': { offset, content: rows.map((row) => JSON.stringify(row)) },
  })
  const printed = (offset: number, content: readonly string[]) => ({
    'output.log': { offset, content: [...content] },
  })
  const system = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({
      'system.cpu': from + at,
      _wandb: true,
      _timestamp: 1.79e9 + (from + at) * 15,
      _runtime: from + at,
    }))
  const time = '2026-11-25T22:52:12.570185'

  it('are kept once and read, with GraphQL and REST', async () => {
    const { client, send, get } = await started()
    const first = {
      ...events(0, system(0, 3)),
      ...printed(0, [`${time} hello`, `ERROR ${time} no`, 'plain', '']),
    }
    await send(first)
    await writesNothing(service, () => send(first))
    await send(events(3, [{ 'system.memory': 7, _timestamp: 1.8e9 }]))
    const read = await client.run(
      'one',
      `events(samples: 3) systemMetrics eventsLineCount eventsTail logLineCount history(samples: 10)
        logLines(first: 2) { edges { node { number timestamp level label line } } pageInfo { hasNextPage endCursor } }
        rest: logLines(first: 2, after: "1", useImprovedPagination: true) { edges { node { number line } } pageInfo { hasNextPage } }
        tail: logLines(last: 2) { edges { node { number line } } }`,
    )
    assert.deepEqual(
      read.events.map((line: string) => JSON.parse(line)),
      [system(0, 1)[0], system(1, 1)[0], { 'system.memory': 7, _timestamp: 1.8e9 }],
    )
    assert.deepEqual(JSON.parse(read.systemMetrics), { 'system.cpu': 2, 'system.memory': 7 })
    assert.deepEqual([read.eventsLineCount, read.logLineCount, read.history], [4, 4, []])
    assert.equal(JSON.parse(read.eventsTail).length, 1)
    const timestamp = `${time}Z`
    assert.deepEqual(read.logLines, {
      edges: [
        { node: { number: 0, timestamp, level: '', label: '', line: 'hello' } },
        { node: { number: 1, timestamp, level: 'error', label: '', line: 'no' } },
      ],
      pageInfo: { hasNextPage: true, endCursor: '1' },
    })
    const last = [{ node: { number: 2, line: 'plain' } }, { node: { number: 3, line: '' } }]
    assert.deepEqual(read.rest, { edges: last, pageInfo: { hasNextPage: false } })
    assert.deepEqual(read.tail.edges, last)
    assert.equal(((await get('/history?stream=system'))['rows'] as readonly unknown[]).length, 4)
    assert.deepEqual(await get('/console?limit=1&after=1'), {
      data: [{ number: 1, timestamp, level: 'error', label: '', line: 'no' }],
      next: '2',
    })
  })

  it('have the last text of a line that is printed again, and the metrics of a program that begins again', async () => {
    const { client, send, get } = await started()
    const lines = async () =>
      ((await get('/console'))['data'] as readonly { line: string; label: string }[]).map(
        ({ label, line }) => label + line,
      )
    await send(printed(0, ['begin', '10 %']))
    await send(printed(1, ['90 %', 'end']))
    await writesNothing(service, () => send(printed(1, ['90 %', 'end'])))
    assert.deepEqual(await lines(), ['begin', '90 %', 'end'])
    await send(printed(0, ['of a']), 'a:')
    await send(printed(0, ['of b']), 'b:')
    assert.deepEqual(await lines(), ['begin', '90 %', 'end', 'a:of a', 'b:of b'])
    await send(events(0, system(0, 2)))
    await send(events(0, system(100, 2)))
    // Of a folder that is synchronised again.
    await writesNothing(service, () => send(events(2, system(0, 2))))
    assert.equal((await client.run('one', 'eventsLineCount')).eventsLineCount, 4)
  })

  it('are kept where they are long, never refused, and deleted with the run', async () => {
    const { project, client, send } = await started()
    await send(
      printed(
        0,
        Array.from({ length: 3000 }, (_, at) => `line ${at} ${'x'.repeat(50)}`),
      ),
    )
    for (const files of [
      { 'wandb-events.jsonl': { offset: -1, content: ['[]', 'no JSON', 3] }, 'output.log': 'no object' },
      { 'output.log': { offset: 'x', content: [null, '\u0000\ud800'] }, 'wandb-events.jsonl': null },
    ])
      await send(files)
    const { logLines } = await client.run('one', 'logLines(last: 1) { edges { node { number line } } }')
    assert.equal(logLines.edges[0].node.number, 2999)
    const { id } = await client.run('one', 'id')
    dataOf(
      await client.graphQl(
        'mutation ($input: DeleteRunInput!) { deleteRun(input: $input) { clientMutationId } }',
        { input: { id } },
      ),
    )
    for (const path of ['/console', '/history?stream=system'])
      assert.equal((await service.send('GET', `/api/runs/${project}/one${path}`)).status, 404)
  })
})
