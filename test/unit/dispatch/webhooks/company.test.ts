import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { systemIds, systemClock } from '../../../../src/adapters/system/system.js'
import { attempt } from '../../../../src/dispatch/webhooks/attempt.js'
import { openCompany } from '../../../../src/dispatch/webhooks/company.js'
import { deliveryStream, type DeliveryScheduled } from '../../../../src/domain/webhooks/deliveries/events.js'
import { instantAt } from '../../../../src/domain/webhooks/deliveries/times.js'
import { newEvent } from '../../../../src/kernel/event.js'
import type { SendResult } from '../../../../src/kernel/ports/webhook-sender.js'
import { aScheduled } from '../../domain/webhooks/deliveries/arbitrary.js'
import { aKnownWebhook, aWaitingDelivery } from './waiting-deliveries.js'

describe('company', () => {
  it('is not waited for longer than is said', async () => {
    await openCompany().wait(1)
  })

  it('takes all along that wait when something sets off, and nobody who waits from then on', async () => {
    const company = openCompany()
    const gone: string[] = []
    const waits = (name: string, atMostMs: number) => company.wait(atMostMs).then(() => gone.push(name))
    const [first, second] = [waits('first', 1e6), waits('second', 1e6)]
    company.setOff()
    const third = waits('third', 1)
    await Promise.all([first, second])
    assert.deepEqual(gone, ['first', 'second'])
    await third
  })
})

describe('an attempt', () => {
  const ANSWERED: SendResult = {
    status: 200,
    headers: {},
    body: new Uint8Array(),
    error: null,
    phases: { dns: null, connect: null, tls: null, first_byte: null, total: 1 },
    bodySent: true,
    peer: null,
  }
  const TIMED_OUT: SendResult = { ...ANSWERED, status: null, error: { kind: 'timeout', phase: 'head' } }

  /** What an attempt does, in its order, at a webhook that hung before, or did not. */
  const stepsOf = async (
    hangs: boolean,
    sent: SendResult,
    signal = new AbortController().signal,
  ): Promise<readonly string[]> => {
    const steps: string[] = []
    const inner = openInMemoryEventStore()
    const scheduled: DeliveryScheduled = aScheduled({ webhook_id: 'w' })
    const id = scheduled.delivery_id
    const cause = { correlationId: 'test', causationId: 'test', actor: 'ada' }
    const first = newEvent(systemIds.next(), { type: 'DeliveryScheduled', data: scheduled }, cause)
    await inner.append(deliveryStream(id), 'none', [first])
    const webhook = aKnownWebhook({ hangs })
    const given = {
      eventStore: {
        append: (...[stream, expected, events]: Parameters<typeof inner.append>) => {
          steps.push(events[0]!.type)
          return inner.append(stream, expected, events)
        },
      },
      ids: systemIds,
      clock: systemClock,
      sender: {
        send: () => {
          steps.push('sent')
          return Promise.resolve(sent)
        },
      },
      instance: 'one',
      scheduled: () => Promise.resolve(scheduled),
      webhook: () => webhook,
      prepare: () =>
        Promise.resolve({
          kind: 'ready' as const,
          message: { url: webhook.content.url, headers: {}, body: new Uint8Array() },
          digest: '',
          redacted: null,
          shown: () => ({ responseHeaders: {}, responseBody: '' }),
        }),
      keep: () => undefined,
      company: {
        wait: () => {
          steps.push('waits')
          return Promise.resolve()
        },
        setOff: () => void steps.push('sets off'),
      },
    }
    const delivery = aWaitingDelivery('w', instantAt(Date.now()))
    await attempt(given, { id, revision: 0n, delivery }, webhook, signal, () => undefined)
    return steps
  }

  it('waits for nothing where its receiver answers, and takes along what waits for company', async () => {
    assert.deepEqual(await stepsOf(false, ANSWERED), [
      'AttemptStarted',
      'sent',
      'sets off',
      'AttemptFinished',
    ])
  })

  it('ends in company where its receiver hangs', async () => {
    assert.deepEqual(await stepsOf(false, TIMED_OUT), ['AttemptStarted', 'sent', 'waits', 'AttemptFinished'])
  })

  it('begins in company where its receiver hung before', async () => {
    const steps = ['waits', 'AttemptStarted', 'sent', 'sets off', 'AttemptFinished']
    assert.deepEqual(await stepsOf(true, ANSWERED), steps)
  })

  it('does not begin where it is cut off before', async () => {
    assert.deepEqual(await stepsOf(true, ANSWERED, AbortSignal.abort()), ['waits'])
  })
})
