import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { aCompleted } from '../../support/call-requests.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted } from './given.js'

const field = ($getField: string) => ({ $getField })
const literal = ($literal: unknown) => ({ $literal })

describe('$contains in texts that look the same', () => {
  let service: TestService
  let project: string
  const texts = {
    composed: 'un \u00e9t\u00e9',
    decomposed: 'un e\u0301te\u0301',
    turkish: '\u0130stanbul',
    capitals: 'ΟΔΟΣ',
    small: 'οδος',
    quoted: 'a "quoted" word',
  }
  before(async () => {
    service = await sharedService()
    project = someProject()
    const batch = Object.entries(texts).map(([name, text]) =>
      aCompleted(project, { id: name, inputs: { d: { n: text }, text } }),
    )
    accepted(await service.post(`/v2/${project}/calls/complete`, { batch }))
  })

  const found = async (name: string, substr: string, case_insensitive = false, form = '$contains') => {
    const expr = { [form]: { input: field(name), substr: literal(substr), case_insensitive } }
    const ids = await service.calls.ids({ project_id: project, query: { $expr: expr } })
    return ids.toSorted()
  }

  it('finds letters with accents however they are composed', async () => {
    for (const sought of ['\u00e9t\u00e9', 'e\u0301te\u0301'])
      for (const ignoresCase of [false, true])
        for (const form of ['$contains', '$containsToken'])
          assert.deepEqual(await found('inputs.text', sought, ignoresCase, form), ['composed', 'decomposed'])
    assert.deepEqual(await found('inputs.text', 'E\u0301TÉ', true), ['composed', 'decomposed'])
  })

  it('finds letters without case both ways', async () => {
    for (const sought of ['istanbul', '\u0130STANBUL', 'ISTANBUL'])
      assert.deepEqual(await found('inputs.text', sought, true), ['turkish'])
    for (const sought of ['οδοσ', 'οδος', 'ΟΔΟΣ'])
      assert.deepEqual(await found('inputs.text', sought, true), ['capitals', 'small'])
    assert.deepEqual(await found('inputs.text', 'οδος'), ['small'])
  })

  it('searches the JSON text of an object, and the text of its member', async () => {
    assert.deepEqual(await found('inputs.d.n', '"quoted"'), ['quoted'])
    assert.deepEqual(await found('inputs.d', '"quoted"'), [])
    assert.deepEqual(await found('inputs.d', '\\"quoted\\"'), ['quoted'])
  })
})
