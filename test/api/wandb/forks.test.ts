import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted } from '../calls/given.js'
import { dataOf, memberOf } from '../graphql/given.js'
import { clientOf } from './given.js'

describe('a fork of a run', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const forking = (project: string, options = {}) => {
    const client = clientOf(service, project, options)
    const fork = (run: string, parent: string, step: unknown, more = {}) =>
      client.init(run, {
        config: JSON.stringify({ _wandb: { value: { branch_point: { run_id: parent, step } } }, ...more }),
      })
    const rows = async (run: string, until = 1000) => {
      const read = await client.run(
        run,
        `history(minStep: 0, maxStep: ${until}, samples: ${until}) sampled: history(samples: 1000) historyLineCount
          sampledHistory(specs: ["{\\"keys\\":[\\"v\\"]}"]) historyKeys historyTail`,
      )
      const valuesOf = (lines: readonly string[]) =>
        lines.map((line) => (JSON.parse(line) as { v: number }).v)
      const values = valuesOf(read.history)
      assert.deepEqual(valuesOf(read.sampled), values)
      assert.deepEqual(
        read.sampledHistory[0].map(({ v }: { v: number }) => v),
        values,
      )
      assert.equal(read.historyLineCount, values.length)
      assert.deepEqual(valuesOf(JSON.parse(read.historyTail)), values.slice(-1))
      const counted = read.historyKeys?.keys.v.typeCounts[0].count as number | undefined
      assert.equal(counted ?? 0, values.length)
      return { values, lastStep: read.historyKeys?.lastStep as number | undefined }
    }
    const log = (run: string, offset: number, from: number, values: readonly number[]) =>
      client.log(
        run,
        offset,
        values.map((v, at) => `{"_step":${from + at},"v":${v}}`),
      )
    return { client, fork, rows, log }
  }

  it('begins with the rows of its parent up to the step, also after the parent was deleted', async () => {
    const project = someProject()
    const { client, fork, rows, log } = forking(project)
    await client.init('parent')
    await log('parent', 0, 0, [0, 1, 2, 3, 4, 5, 6, 7])
    await fork('fork', 'parent', 5)
    assert.deepEqual(await rows('fork'), { values: [0, 1, 2, 3, 4, 5], lastStep: 5 })
    const { historyLineCount } = await client.run('fork', 'historyLineCount')
    await log('fork', historyLineCount as number, 6, [60, 61])
    const expected = { values: [0, 1, 2, 3, 4, 5, 60, 61], lastStep: 7 }
    assert.deepEqual(await rows('fork'), expected)
    const shown = accepted(await service.send('GET', `/api/runs/${project}/fork`))
    assert.deepEqual([shown['history_lines'], shown['forked_from']], [8, { run_id: 'parent', step: 5 }])
    const { rows: page } = accepted(
      await service.send('GET', `/api/runs/${project}/fork/history?min_step=4&max_step=7`),
    )
    assert.deepEqual(page, [
      { _step: 4, v: 4 },
      { _step: 5, v: 5 },
      { _step: 6, v: 60 },
    ])
    // What the parent logs later is not of the fork.
    await log('parent', 8, 8, [8])
    const { id } = await client.run('parent', 'id')
    dataOf(
      await client.graphQl(
        'mutation ($input: DeleteRunInput!) { deleteRun(input: $input) { clientMutationId } }',
        { input: { id } },
      ),
    )
    assert.deepEqual(await rows('fork'), expected)
    // A later fork does not bring back what was deleted.
    await fork('late', 'parent', 5)
    assert.deepEqual(await rows('late'), { values: [], lastStep: undefined })
  })

  it('of a fork has the rows of both up to the lower step', async () => {
    const { client, fork, rows, log } = forking(someProject())
    await client.init('a')
    await log('a', 0, 0, [0, 1, 2, 3, 4])
    await fork('b', 'a', 2)
    await log('b', 3, 3, [30, 31, 32])
    await fork('c', 'b', 4)
    await log('c', 5, 5, [50])
    assert.deepEqual((await rows('c')).values, [0, 1, 2, 30, 31, 50])
    await fork('d', 'b', 1)
    assert.deepEqual((await rows('d')).values, [0, 1])
  })

  it('is only of a run of its project, and only from its first request', async () => {
    const [mine, other] = [await memberOf(service, 'fork'), await memberOf(service, 'forked')]
    const theirs = forking(`${other.teams[0]}/p`, other.options)
    await theirs.client.init('parent')
    await theirs.log('parent', 0, 0, [1])
    const { client, fork, rows, log } = forking(`${mine.teams[0]}/p`, mine.options)
    for (const [run, parent, step] of [
      ['one', 'parent', 5],
      ['two', 'two', 5],
      ['three', 'parent', 'x'],
      ['four', `${other.teams[0]}/p/parent`, 5],
    ] as const) {
      await fork(run, parent, step)
      assert.deepEqual((await rows(run)).values, [], run)
    }
    await client.init('known')
    await log('one', 0, 0, [1])
    await fork('known', 'one', 5)
    assert.deepEqual((await rows('known')).values, [])
    // Runs that name one another: the first did not know the second.
    await fork('x', 'y', 5)
    await fork('y', 'x', 5)
    await log('x', 0, 0, [1])
    await log('y', 0, 1, [2])
    assert.deepEqual((await rows('y')).values, [1, 2])
    assert.deepEqual((await rows('x')).values, [2, 1])
  })
})
