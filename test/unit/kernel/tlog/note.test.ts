import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  checkpointText,
  InvalidNote,
  newSignerKey,
  openNote,
  parseCheckpoint,
  parseSignerKey,
  parseVerifierKey,
  signNote,
} from '../../../../src/kernel/tlog/note.js'

// The example of golang.org/x/mod/sumdb/note.
const PETER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const PETER_SAID =
  'If you think cryptography is the answer to your problem,\n' + "then you don't know what your problem is.\n"
const PETER_SIGNED = `${PETER_SAID}
— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`

describe('a signed note', () => {
  it('of another implementation is verified', () => {
    const key = parseVerifierKey(PETER)
    assert.equal(key.text, PETER)
    assert.equal(openNote(PETER_SIGNED, [key]).text, PETER_SAID)
    assert.throws(() => openNote(PETER_SIGNED.replace('problem', 'puzzle'), [key]), InvalidNote)
  })

  it('is verified by each known key, with the time of a cosignature, and ignores others', () => {
    const keys = [
      newSignerKey('traces.example/log', 'signature'),
      newSignerKey('traces.example/log', 'signature'),
      newSignerKey('traces.example/log/time', 'cosignature'),
    ]
    const text = checkpointText({ origin: 'traces.example/log', size: 3, root: randomBytes(32) })
    const note = signNote(text, keys, 1_700_000_000)
    assert.deepEqual(
      openNote(note, keys).signatures.map(({ time }) => time),
      [undefined, undefined, 1_700_000_000],
    )
    assert.equal(openNote(note, [keys[1]!]).signatures.length, 1)
    assert.throws(() => openNote(note, [newSignerKey('other', 'signature')]), /no known key/)
    assert.throws(() => openNote(note.replace('\n3\n', '\n4\n'), [keys[2]!]), /is wrong/)
    assert.throws(() => openNote(note.slice(0, -1), keys), InvalidNote)
    assert.equal(parseCheckpoint(text).size, 3)
    assert.throws(() => parseCheckpoint('no checkpoint\n'), InvalidNote)
  })

  it('has keys that are read from their text, and no others', () => {
    for (const type of ['signature', 'cosignature'] as const) {
      const key = newSignerKey('traces.example/log', type)
      assert.equal(parseSignerKey(key.secret).text, key.text)
      assert.equal(parseVerifierKey(key.text).type, type)
      assert.throws(() => parseVerifierKey(key.text.replace('traces', 'others')), InvalidNote)
    }
    for (const text of ['', 'a+b', 'name+00000000+AAAA'])
      assert.throws(() => parseVerifierKey(text), InvalidNote)
  })
})
