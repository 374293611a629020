import assert from 'node:assert/strict'
import { lineIn, newOutput, NO_OUTPUT } from '../../../../src/domain/runs/output.js'

describe('the output of a run', () => {
  const sent = (texts: readonly string[]) => ({
    offset: 7,
    writer: null,
    lines: texts.map(lineIn('console')),
  })

  it('is kept up to 100,000 lines', () => {
    const kept = { ...NO_OUTPUT, written: 99_998 }
    const parts = newOutput('console', sent(['a', 'b', 'c', 'd']), [], kept)
    assert.deepEqual(
      parts.map(({ offset, lines }) => ({ offset, lines })),
      [{ offset: 7, lines: ['a', 'b'] }],
    )
    assert.deepEqual(newOutput('console', sent(['a']), [], { ...NO_OUTPUT, written: 100_000 }), [])
  })

  it('is kept up to a length, which system metrics have four times', () => {
    const kept = { ...NO_OUTPUT, length: 64 * 1024 * 1024 - 3 }
    assert.deepEqual(newOutput('console', sent(['ab', 'cd']), [], kept)[0]?.lines, ['ab'])
    assert.deepEqual(newOutput('system', sent(['{}', '{}']), [], kept)[0]?.lines, ['{}', '{}'])
  })
})
