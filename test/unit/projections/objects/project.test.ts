import assert from 'node:assert/strict'
import type { Json } from '../../../../src/kernel/json/json.js'
import { objectsProjection } from '../../../../src/projections/objects/project.js'
import { OBJECT_VERSIONS } from '../../../../src/projections/objects/tables.js'

const rowOf = (data: Record<string, Json>) => {
  const published = { project_id: 'a/b', object_id: 'o', version_index: 0, digest: 'd', kind: 'object' }
  const created_at = '2026-01-01T00:00:00.000000Z'
  const event = {
    type: 'ObjectPublished',
    position: 1n,
    data: { ...published, created_at, wb_user_id: null, val: null, ...data },
  }
  const [{ values } = { values: [] }] = objectsProjection.rowsOf([event])
  const row = values[0] as readonly unknown[]
  return Object.fromEntries(OBJECT_VERSIONS.names.map((column, at) => [column, row[at]]))
}

describe('the row of a version', () => {
  it('has the class itself as base class when an older event has BaseObject', () => {
    const classes = { base_object_class: 'BaseObject', leaf_object_class: 'AnnotationSpec' }
    assert.equal(rowOf(classes)['base_object_class'], 'AnnotationSpec')
    assert.equal(rowOf({ ...classes, base_object_class: 'Model' })['base_object_class'], 'Model')
  })

  it('counts the bytes of the text that the digest is of', () => {
    for (const [val, text] of [
      [{ b: 1, a: 'é' }, '{"a": "\\u00e9", "b": 1}'],
      ['text', '"text"'],
      [null, 'null'],
    ] as const)
      assert.equal(
        rowOf({ base_object_class: null, leaf_object_class: null, val })['weave_bytes'],
        text.length,
      )
  })
})
