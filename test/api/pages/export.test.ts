import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { inflateRawSync, deflateRawSync } from 'node:zlib'
import type { TestService } from '../../support/service.js'
import { recordCalls, tokens } from '../prices/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, textIn } from '../calls/given.js'

describe('an export of a list of calls', () => {
  let service: TestService
  let project: string
  before(async () => {
    service = await sharedService()
    project = someProject()
    await recordCalls(service, project, [
      ['root', null, {}, { op_name: 'answer', started_at: '2026-03-01T10:00:00Z', inputs: { q: '=1+1' } }],
      ['below', 'root', { small: tokens(3, 4) }, { op_name: 'ask', started_at: '2026-03-01T10:00:01Z' }],
    ])
  })

  const linkTo = async (body: object) =>
    accepted(await service.post('/api/pages/export', { project_id: project, ...body })) as {
      url: string
      expires_at: string
      limit: number
    }
  const fileOf = async (body: object) => {
    const { url } = await linkTo(body)
    const answer = await service.send('GET', url)
    assert.equal(answer.status, 200, answer.text.slice(0, 300))
    return answer
  }

  it('is a file of the chosen format, in the order of the list, with usage of all descendants', async () => {
    const sort_by = [{ field: 'started_at', direction: 'desc' }]
    const lines = await fileOf({ format: 'jsonl', sort_by })
    const rows = lines.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      rows.map(({ id, status, total_tokens, models, inputs }) => [id, status, total_tokens, models, inputs]),
      [
        ['below', 'success', 7, ['small'], {}],
        ['root', 'success', 7, ['small'], { q: '=1+1' }],
      ],
    )
    const csv = await fileOf({ format: 'csv', filter: { trace_roots_only: true } })
    assert.match(csv.headers.get('content-disposition') ?? '', /^attachment; filename="calls-project\.csv"$/)
    const [header, row, ...more] = csv.text.trimEnd().split('\r\n')
    assert.match(header!, /^id,trace_id,parent_id,op_name,/)
    assert.match(row!, /^root,t,,answer,/)
    assert.ok(row!.includes('"{""q"":""=1+1""}"'))
    assert.deepEqual(more, [])
    const parquet = await fileOf({ format: 'parquet' })
    assert.match(parquet.text, /^PAR1[^]*PAR1$/)
  })

  it('has the selected calls, of more than one page too', async () => {
    const many = someProject()
    await recordCalls(
      service,
      many,
      Array.from({ length: 2500 }, (_, n) => [`call-${n}`, null, {}, { trace_id: `trace-${n}` }] as const),
    )
    const all = await fileOf({ project_id: many, format: 'csv' })
    assert.equal(new Set(all.text.trimEnd().split('\r\n')).size, 2501)
    const some = await fileOf({ project_id: many, format: 'csv', filter: { call_ids: ['call-7', 'call-8'] } })
    assert.equal(some.text.trimEnd().split('\r\n').length, 3)
  })

  it('says how many calls it takes at most', async () => {
    assert.equal((await linkTo({ format: 'csv' })).limit, 100_000)
    const query = { $expr: { $usedModel: 'small' } }
    assert.equal((await linkTo({ format: 'csv', query })).limit, 10_000)
    assert.equal((await fileOf({ format: 'csv', query })).text.trimEnd().split('\r\n').length, 3)
  })

  it('gives nothing after a minute, and nothing to other teams', async () => {
    const { url, expires_at } = await linkTo({ format: 'csv' })
    const left = Date.parse(expires_at) - Date.now()
    assert.ok(left > 0 && left <= 60_000)
    const link = url.split('/').at(-1)!
    const asked = JSON.parse(inflateRawSync(Buffer.from(link, 'base64url')).toString()) as object
    const withUntil = (until: string) =>
      deflateRawSync(JSON.stringify({ ...asked, until })).toString('base64url')
    const expired = `/api/pages/export/${withUntil('2026-01-01T00:00:00.000000Z')}`
    assert.equal((await service.send('GET', expired)).status, 404)
    assert.equal((await service.send('GET', '/api/pages/export/x')).status, 404)
    const team = `other-${randomUUID()}`
    accepted(await service.post('/api/teams', { name: team }))
    const member = accepted(
      await service.post(`/api/teams/${team}/members`, {
        user: `user-${randomUUID()}`,
        role: 'team_administrator',
      }),
    )
    assert.equal((await service.send('GET', url, undefined, { key: textIn(member, 'api_key') })).status, 404)
  })
})
