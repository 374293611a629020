import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { aStart, startItem } from '../../support/call-requests.js'
import { accepted } from './given.js'

const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const text = { input: field('inputs.name'), substr: literal('ada') }

const QUERIES: Readonly<Record<string, object>> = {
  $eq: { $eq: [field('inputs.name'), literal('ada')] },
  $in: { $in: [field('inputs.name'), [literal('ada'), literal('bob')]] },
  $contains: { $contains: text },
  $containsToken: { $containsToken: text },
  '$eq in another field of the same call': { $eq: [field('attributes.env'), literal('prod')] },
  '$eq to a number of many digits': { $eq: [field('inputs.score'), literal(0.22323896460701453)] },
  '$eq behind a place in a list': { $eq: [field('inputs.list.1.score'), literal(0.5)] },
  'the wide number': { $gt: [field('inputs.wide'), literal(1)] },
}

describe('a call whose JSON holds an integer of more than 64 bits', () => {
  let service: TestService
  let project: string

  before(async () => {
    service = await sharedService()
    project = someProject()
    const wide = 1e20
    const call = aStart(project, {
      id: 'a',
      inputs: { name: 'ada', wide, score: 0.22323896460701453, list: [wide, { wide, score: 0.5 }] },
      attributes: { env: 'prod', wide },
    })
    accepted(await service.post('/call/upsert_batch', { batch: [startItem(call)] }))
  })

  for (const [name, $expr] of Object.entries(QUERIES))
    it(`is found by ${name}`, async () => {
      assert.deepEqual(await service.in(project).calls.ids({ query: { $expr } }), ['a'])
    })
})
