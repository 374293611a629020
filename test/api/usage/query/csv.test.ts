import assert from 'node:assert/strict'
import { ADMINISTRATOR_KEY, type TestService } from '../../../support/service.js'
import { sharedService, someProject } from '../../shared-service.js'
import { recordCalls, startedAt, tokens } from '../../prices/given.js'

const FORMULA = '=HYPERLINK("http://x","y")'

describe('usage as CSV', () => {
  let service: TestService
  let project: string
  before(async () => {
    service = await sharedService()
    project = someProject()
    await recordCalls(service, project, [
      ['a', null, { 'gpt-4o-mini': tokens(10) }, startedAt('2026-02-28T23:30:00Z')],
      ['b', null, { [FORMULA]: tokens(5) }, startedAt('2026-03-30T12:00:00Z')],
      ['c', null, { '-1': tokens(1) }, startedAt('2026-03-30T12:00:00Z')],
      ['d', null, { '': tokens(1) }, startedAt('2026-03-30T12:00:00Z')],
    ])
  })

  const csv = async (asked: object) => {
    const range = { start: '2026-02-01T00:00:00Z', end: '2026-04-02T00:00:00Z' }
    const body = { project_id: project, ...range, format: 'csv', ...asked }
    const answer = await service.post('/usage/query', body)
    assert.equal(answer.status, 200, answer.text)
    return { answer, lines: answer.text.trimEnd().split('\r\n') }
  }
  const firstCells = (lines: readonly string[], count: number) =>
    lines.slice(1).map((line) => line.split(',').slice(0, count).join(','))

  it('writes the start of a bucket with the offset of the zone on that day', async () => {
    const { lines } = await csv({ group_by: ['day'], timezone: 'Europe/Berlin' })
    assert.deepEqual(firstCells(lines, 2), ['2026-03-01T00:00:00+01:00,1', '2026-03-30T00:00:00+02:00,1'])
    const west = await csv({ group_by: ['day'], timezone: 'America/St_Johns' })
    assert.deepEqual(firstCells(west.lines, 1), ['2026-02-28T00:00:00-03:30', '2026-03-30T00:00:00-02:30'])
    const utc = await csv({ group_by: ['hour'] })
    assert.deepEqual(firstCells(utc.lines, 1), ['2026-02-28T23:00:00+00:00', '2026-03-30T12:00:00+00:00'])
  })

  it('leaves the dimensions of the other groups empty', async () => {
    const { lines } = await csv({ group_by: ['day', 'model'], limit: 1 })
    assert.deepEqual(firstCells(lines, 4), ['2026-02-28T00:00:00+00:00,gpt-4o-mini,1,1', ',,3,3'])
  })

  it('has no formulas, and quotes the empty name', async () => {
    const { lines } = await csv({ group_by: ['model'], sort_by: [{ field: 'model', direction: 'asc' }] })
    assert.deepEqual(
      lines.slice(1).map((line) => line.replace(/,1,1,.*/, '')),
      ['""', "'-1", `"'=HYPERLINK(""http://x"",""y"")"`, 'gpt-4o-mini'],
    )
  })

  it('leaves an unknown cost empty, and names the model', async () => {
    const { lines } = await csv({ group_by: ['model'], include_costs: true })
    const names = lines[0]!.split(',')
    const priced = lines.find((line) => line.startsWith('gpt-4o-mini'))!.split(',')
    const unpriced = lines.find((line) => line.startsWith("'-1"))!
    assert.match(priced[names.indexOf('total_cost')]!, /^0\.0+\d+$/)
    assert.equal(unpriced.split(',')[names.indexOf('total_cost')], '')
    assert.ok(unpriced.endsWith(',1,"[""-1""]"'), unpriced)
  })

  it('has the same figures as the JSON, with those of the previous period', async () => {
    const asked = { group_by: ['model'], compare: 'previous_period', include_costs: true }
    const { lines } = await csv(asked)
    const names = lines[0]!.split(',')
    for (const prefix of ['', 'previous_']) assert.ok(names.includes(`${prefix}total_cost`))
    assert.equal(names.length, new Set(names).size)
  })

  it('begins with a byte order mark where one is asked for', async () => {
    const firstBytes = async (byte_order_mark: boolean) => {
      const answer = await fetch(`${service.address}/usage/query`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMINISTRATOR_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ project_id: project, format: 'csv', byte_order_mark }),
      })
      return Buffer.from(await answer.arrayBuffer())
        .subarray(0, 3)
        .toString('hex')
    }
    assert.equal(await firstBytes(true), 'efbbbf')
    assert.notEqual(await firstBytes(false), 'efbbbf')
    const body = { project_id: project, format: 'json', byte_order_mark: true }
    assert.match((await service.post('/usage/query', body)).text, /byte_order_mark/)
  })

  it('has a file name of ASCII', async () => {
    const { answer } = await csv({})
    const name = project.split('/')[1]!
    assert.equal(answer.headers.get('content-disposition'), `attachment; filename="usage-${name}.csv"`)
    const odd = `${project.split('/')[0]!}/Проект "1"`
    await recordCalls(service, odd, [['a', null, { m: tokens(1) }]])
    const body = { project_id: odd, format: 'parquet', include_costs: true }
    const parquet = await service.post('/usage/query', body)
    assert.equal(
      parquet.headers.get('content-disposition'),
      'attachment; filename="usage-________1_.parquet"',
    )
  })
})
