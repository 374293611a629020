import assert from 'node:assert/strict'
import { failureText } from '../../../../src/domain/webhooks/deliveries/classify.js'
import { hintOfError, hintOfFailure, hintOfUnsent } from '../../../../src/domain/webhooks/hints.js'
import type { SendError } from '../../../../src/kernel/ports/webhook-sender.js'

describe('the hint of a failed attempt', () => {
  it('is that of the test of the webhook', () => {
    const errors: readonly SendError[] = [
      ...(['dns', 'connect', 'tls', 'head', 'total'] as const).map((phase) => ({
        kind: 'timeout' as const,
        phase,
      })),
      ...(['dns', 'connect', 'tls', 'reset', 'protocol'] as const).map((kind) => ({ kind, code: 'CODE' })),
      { kind: 'tls', code: 'CERT_HAS_EXPIRED' },
      { kind: 'aborted' },
    ]
    for (const error of errors) assert.equal(hintOfFailure(failureText(error)), hintOfError(error))
  })

  it('does not say which rule forbids an address', () => {
    const hint = (rule: 'metadata' | 'private_network') =>
      hintOfFailure(failureText({ kind: 'forbidden-name', rule }))
    assert.equal(hint('metadata'), hint('private_network'))
  })

  it('names the setting if no message could be made', () => {
    assert.equal(hintOfFailure('missing_secret'), hintOfUnsent('missing_secret'))
  })
})
