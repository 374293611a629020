import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { COUNTS } from '../../counts.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { UPSTREAMS, anUpstream } from '../gateway/given.js'
import { sharedService, someProject } from '../shared-service.js'

const START = Date.parse('2026-03-28T12:00:00Z')
const DAY_MS = 86_400_000
const timeOf = (ms: number) => new Date(START + ms).toISOString()

const aRequest = fc.record({
  project: fc.nat(2),
  model: fc.constantFrom('one', 'team/two', 'Ёлка', 'not offered'),
  at: fc.integer({ min: -3_600_000, max: DAY_MS + 3_600_000 }),
  milliseconds: fc.integer({ min: 0, max: 100_000 }),
  exception: fc.option(fc.constantFrom('', 'TimeoutError')),
  isRunning: fc.boolean(),
  isDeleted: fc.boolean(),
})
type Request = typeof aRequest extends fc.Arbitrary<infer R> ? R : never

interface Figures {
  readonly requests: number
  readonly errors: number
  readonly p50_ms: number | null
}
type Answer = readonly (Figures & {
  readonly model: string
  readonly projects: readonly (Figures & { readonly project: string })[]
})[]

const literal = ($literal: unknown) => ({ $literal })
const field = ($getField: string) => ({ $getField })
const equals = (name: string, value: unknown) => ({ $eq: [field(name), literal(value)] })
const DURATION = 'summary.weave.latency_ms'

const medianOf = (values: readonly number[]): number | null => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return sorted.length === 0 ? null : (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}

describe('GET /api/pages/teams/{team}/models', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const record = async (team: string, requests: readonly Request[]) => {
    for (const [
      n,
      { project, model, at, milliseconds, exception, isRunning, isDeleted },
    ] of requests.entries()) {
      const project_id = `${team}/project${project}`
      const id = `${n}-${randomUUID()}`
      const attributes = { tallytree: { model: `${team}-${model}` } }
      const start = { project_id, id, op_name: 'chat', started_at: timeOf(at), attributes, inputs: {} }
      const end = { project_id, id, ended_at: timeOf(at + milliseconds), exception, summary: {} }
      const batch = [{ mode: 'start', req: { start } }, ...(isRunning ? [] : [{ mode: 'end', req: { end } }])]
      accepted(await service.post('/call/upsert_batch', { batch }))
      if (isDeleted) accepted(await service.post('/calls/delete', { project_id, call_ids: [id] }))
    }
  }

  const askedOf = async (team: string) => {
    const query = `?start=${timeOf(0)}&end=${timeOf(DAY_MS)}`
    const { data } = accepted(await service.send('GET', `/api/pages/teams/${team}/models${query}`))
    return data as unknown as Answer
  }

  it('counts exactly the calls that its links select, over random requests', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aRequest, { maxLength: 30 }), async (requests) => {
        const [team] = someProject().split('/') as [string]
        accepted(await service.post('/api/teams', { name: team }))
        const models = ['one', 'team/two', 'Ёлка'].map((id) => ({ id: `${team}-${id}`, upstream_id: id }))
        accepted(await service.post(UPSTREAMS, anUpstream({ team, models })))
        await record(team, requests)
        const selected = async (project: string, ...conditions: readonly object[]) => {
          const range = [
            { $gte: [field('started_at'), literal(timeOf(0))] },
            { $not: [{ $gte: [field('started_at'), literal(timeOf(DAY_MS))] }] },
          ]
          const { calls } = accepted(
            await service.post('/calls/query', {
              project_id: `${team}/${project}`,
              query: { $expr: { $and: [...conditions, ...range] } },
              columns: ['id', 'summary'],
            }),
          ) as unknown as { calls: readonly { summary: { weave: { latency_ms: number } } }[] }
          return calls.map(({ summary }) => summary.weave.latency_ms)
        }
        const expected = []
        for (const { id: model } of models) {
          const byProject: { project: string; all: number[]; failed: number[]; ended: number[] }[] = []
          for (const project of ['project0', 'project1', 'project2']) {
            const ofModel = equals('attributes.tallytree.model', model)
            const [all, failed, ended] = await Promise.all([
              selected(project, ofModel),
              selected(project, ofModel, equals('summary.weave.status', 'error')),
              selected(project, ofModel, { $not: [equals(DURATION, null)] }),
            ])
            if (all.length > 0) byProject.push({ project, all, failed, ended })
          }
          if (byProject.length === 0) continue
          const figuresOf = (some: typeof byProject) => ({
            requests: some.flatMap(({ all }) => all).length,
            errors: some.flatMap(({ failed }) => failed).length,
            p50_ms: medianOf(some.flatMap(({ ended }) => ended)),
          })
          const projects = byProject.map((one) => ({ project: one.project, ...figuresOf([one]) }))
          projects.sort((one, other) => other.requests - one.requests)
          expected.push({ model, ...figuresOf(byProject), projects })
        }
        assert.deepEqual(byModel(await askedOf(team)), byModel(expected))
      }),
      { numRuns: COUNTS.overviews },
    )
  })

  it('is limited to a day, and to members', async () => {
    const [team] = someProject().split('/') as [string]
    accepted(await service.post('/api/teams', { name: team }))
    const path = `/api/pages/teams/${team}/models?start=${timeOf(0)}&end=`
    assert.equal((await service.send('GET', path + timeOf(DAY_MS + 1))).status, 422)
    const key = await service.teams.keyOf(team, `member-of-${team}`, 'member')
    assert.equal((await service.send('GET', path + timeOf(DAY_MS), undefined, { key })).status, 200)
  })
})

const byModel = (answer: Answer): Answer =>
  [...answer].sort((one, other) => (one.model < other.model ? -1 : 1))
