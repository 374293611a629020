import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '../kit/api.js'
import { wholeNumber } from '../kit/format.js'
import { Status, type Tone } from '../kit/status.js'
import { keysOfTeam } from '../kit/team-data.js'

type Webhook = Schemas['Webhook']
type State = Webhook['state']

const STATES: Readonly<Record<State, readonly [Tone, string]>> = {
  healthy: ['ok', 'healthy'],
  failing: ['danger', 'failing'],
  throttled: ['warn', 'throttled'],
  open: ['danger', 'paused after failures'],
  disabled: ['plain', 'disabled'],
}

/**
 * The state as people read it. A receiver that refuses all messages is reachable, so that its state is healthy, but none of
 * them arrived.
 */
export const shownState = ({
  state,
  attempts_24h,
  success_rate_24h,
}: Pick<Webhook, 'state' | 'attempts_24h' | 'success_rate_24h'>): readonly [Tone, string] =>
  state === 'healthy' && success_rate_24h === 0
    ? ['danger', `none of ${wholeNumber(attempts_24h ?? 0)} accepted`]
    : STATES[state]

export const WebhookState = ({ webhook }: { readonly webhook: Webhook }) => {
  const [tone, word] = shownState(webhook)
  return <Status tone={tone}>{word}</Status>
}

/** The share of successful attempts, in per cent. The service leaves the figures out where it cannot give them in time. */
export const SuccessRate = ({ webhook, team }: { readonly webhook: Webhook; readonly team: string }) => {
  const queries = useQueryClient()
  const { attempts_24h, success_rate_24h: rate } = webhook
  if (attempts_24h == null)
    return (
      <>
        unknown{' '}
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => {
            void queries.invalidateQueries({ queryKey: keysOfTeam.webhooks(team) })
            void queries.invalidateQueries({ queryKey: ['webhook', team] })
          }}
        >
          Retry
        </Button>
      </>
    )
  return rate == null ? '—' : `${(100 * rate).toFixed(rate === 1 || rate === 0 ? 0 : 1)} %`
}
