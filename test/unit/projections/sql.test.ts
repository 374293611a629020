import assert from 'node:assert/strict'
import { allOf, raw, sql, statementOf, typed } from '../../../src/projections/sql.js'

describe('a statement from a template', () => {
  it('keeps what clients choose apart from its text', () => {
    const ids = ['a', 'b']
    const { text, parameters } = statementOf(
      sql`SELECT ${raw('name')} FROM runs WHERE project_id = ${"x' OR 1"} AND id IN ${ids} AND position <= ${5n}`,
    )
    assert.equal(
      text,
      'SELECT name FROM runs WHERE project_id = {p0:String} AND id IN {p1:Array(String)} AND position <= {p2:UInt64}',
    )
    assert.deepEqual(parameters, { p0: "x' OR 1", p1: ids, p2: 5n })
  })

  it('has one value for equal ones of a type, and for uses of one list', () => {
    const list = ['a']
    const twice = sql`${list} ${'1'} ${typed('UInt64', '1')}`
    const { text, parameters } = statementOf(sql`${twice} ${twice} ${['a']}`)
    const once = '{p0:Array(String)} {p1:String} {p2:UInt64}'
    assert.equal(text, `${once} ${once} {p3:Array(String)}`)
    assert.deepEqual(parameters, { p0: list, p1: '1', p2: '1', p3: ['a'] })
  })

  it('takes the placeholders of parts along', () => {
    const part = raw('a = {project:String}', { project: 'p' })
    const { text, parameters } = statementOf(sql`WHERE ${allOf([part, sql`b = ${'c'}`])} OR ${allOf([])}`)
    assert.equal(text, 'WHERE (a = {project:String}) AND (b = {p0:String}) OR true')
    assert.deepEqual(parameters, { project: 'p', p0: 'c' })
  })
})
