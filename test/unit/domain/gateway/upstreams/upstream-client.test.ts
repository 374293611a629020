import assert from 'node:assert/strict'
import {
  BEFORE_ASKED,
  UpstreamFault,
  type FaultKind,
} from '../../../../../src/domain/gateway/upstreams/upstream-client.js'

describe('a fault of an upstream', () => {
  const faults: readonly (readonly [FaultKind, string, boolean])[] = [
    ['forbidden-address', '10.0.0.1', false],
    ['dns', 'ENOTFOUND', false],
    ['connect', 'ECONNREFUSED', false],
    ['tls', 'CERT_HAS_EXPIRED', false],
    ['timeout', 'connect', false],
    ['timeout', 'first byte', true],
    ['reset', 'ECONNRESET', true],
    ['aborted', BEFORE_ASKED, false],
    ['aborted', 'by the client', true],
    ['protocol', 'HPE_INVALID_CONSTANT', true],
  ]
  for (const [kind, code, mayHaveWorked] of faults)
    it(`${mayHaveWorked ? 'leaves open whether' : 'rules out that'} the upstream worked on the request: ${kind} ${code}`, () =>
      assert.equal(new UpstreamFault(kind, code).mayHaveWorked, mayHaveWorked))
})
