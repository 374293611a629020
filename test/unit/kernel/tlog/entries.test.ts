import assert from 'node:assert/strict'
import {
  entryBundle,
  entryBytes,
  entryHash,
  parseProof,
  parseTilePath,
  proofText,
} from '../../../../src/kernel/tlog/entries.js'
import { leafHash } from '../../../../src/kernel/tlog/merkle.js'

describe('the entry of an event', () => {
  const event = {
    id: 'some-id',
    stream: 'call-team/project/ü',
    revision: 12n,
    type: 'CallStarted',
    digest: new Uint8Array(32),
  }
  const entry = entryBytes(event)

  it('is compact JSON with its members in order', () => {
    const content = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='
    assert.equal(
      entry.toString(),
      `{"id":"some-id","stream":"call-team/project/ü","revision":"12","type":"CallStarted","content":"${content}"}`,
    )
  })

  it('has the leaf hash of its bytes', () => {
    assert.deepEqual(entryHash(event), leafHash(entry))
  })

  it('comes after its length in a bundle', () => {
    const bundle = entryBundle([entry, Buffer.from('x')])
    assert.equal(bundle.readUInt16BE(), entry.length)
    assert.deepEqual(bundle.subarray(2 + entry.length), Buffer.from([0, 1, 0x78]))
  })

  it('is the extra data of its proof', () => {
    const path = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)].map((hashed) => Buffer.from(hashed))
    const checkpoint = 'origin\n3\nroot\n\n— name signature\n'
    const text = proofText(entry, 2, path, checkpoint)
    assert.deepEqual(parseProof(text), { entry, index: 2, path, checkpoint })
    assert.equal(parseProof(text.replace('@v1', '@v2')), undefined)
  })
})

describe('the path of a tile', () => {
  it('has groups of three digits, and the width of a partial tile', () => {
    assert.deepEqual(parseTilePath('000'), { index: 0, width: 256 })
    assert.deepEqual(parseTilePath('067.p/12'), { index: 67, width: 12 })
    assert.deepEqual(parseTilePath('x001/x234/067'), { index: 1_234_067, width: 256 })
  })

  for (const path of [
    '',
    '0',
    '67',
    '0067',
    'x000/001',
    '001/002',
    'x001',
    '000.p/0',
    '000.p/256',
    '000.p/',
    'x',
  ])
    it(`is not ${JSON.stringify(path)}`, () => assert.equal(parseTilePath(path), undefined))
})
