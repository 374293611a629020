import { Status, type Tone } from '../kit/status.js'

const TONES: Readonly<Record<string, Tone>> = {
  running: 'running',
  finished: 'ok',
  failed: 'danger',
  crashed: 'danger',
  killed: 'warn',
}

export const RunState = ({ state }: { readonly state: string }) => (
  <Status tone={TONES[state] ?? 'plain'}>{state}</Status>
)

/** Microseconds from the start to the end, or to now. */
export const ranFor = ({
  started_at,
  ended_at,
}: {
  readonly started_at: string
  readonly ended_at: string | null
}): number =>
  Math.max(0, (ended_at === null ? Date.now() : Date.parse(ended_at)) - Date.parse(started_at)) * 1000
