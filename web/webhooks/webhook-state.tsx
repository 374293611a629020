import type { Schemas } from '../kit/api.js'
import { Status, type Tone } from '../kit/status.js'

type State = Schemas['Webhook']['state']

const STATES: Readonly<Record<State, readonly [Tone, string]>> = {
  healthy: ['ok', 'healthy'],
  failing: ['danger', 'failing'],
  throttled: ['warn', 'throttled'],
  open: ['danger', 'paused after failures'],
  disabled: ['plain', 'disabled'],
}

export const WebhookState = ({ state }: { readonly state: State }) => (
  <Status tone={STATES[state][0]}>{STATES[state][1]}</Status>
)

/** The share of successful attempts, in per cent. */
export const successRate = (rate: number | null | undefined): string =>
  rate === null || rate === undefined ? '—' : `${(100 * rate).toFixed(rate === 1 ? 0 : 1)} %`
