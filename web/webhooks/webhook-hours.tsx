import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { clockTime } from '../kit/format.js'
import { useZone } from '../kit/settings.js'

const HOUR = 3_600_000

type Hour = Schemas['WebhookHour']

/** The attempts of the last 24 hours, one bar for each hour; the red part failed. */
export const WebhookHours = ({ team, id }: { readonly team: string; readonly id: string }) => {
  const zone = useZone()
  const hours = useQuery({
    queryKey: ['webhook hours', team, id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/teams/{team}/webhooks/{id}/health', { params: { path: { team, id } }, signal })),
  })
  const known = new Map((hours.data?.data ?? []).map((hour) => [Date.parse(hour.hour), hour]))
  const last = Math.floor(Date.now() / HOUR) * HOUR
  const shown = Array.from({ length: 24 }, (_, n) => last - (23 - n) * HOUR)
  const most = Math.max(1, ...[...known.values()].map(({ attempts }) => attempts))
  return (
    <figure className="hours">
      <figcaption className="secondary">Attempts in the last 24 hours</figcaption>
      {shown.map((at) => (
        <Bar key={at} at={clockTime(at, zone)} hour={known.get(at)} most={most} />
      ))}
    </figure>
  )
}

const Bar = ({
  at,
  hour,
  most,
}: {
  readonly at: string
  readonly hour: Hour | undefined
  readonly most: number
}) => {
  const { attempts = 0, succeeded = 0, p50_ms, p95_ms } = hour ?? {}
  const times = p50_ms == null ? '' : `, p50 ${Math.round(p50_ms)} ms, p95 ${Math.round(p95_ms ?? 0)} ms`
  const height = (count: number) => `${Math.round((40 * count) / most)}px`
  return (
    <div title={`${at}: ${attempts} attempts, ${attempts - succeeded} failed${times}`}>
      <i data-tone="danger" style={{ height: height(attempts - succeeded) }} />
      <i data-tone="ok" style={{ height: height(succeeded) }} />
    </div>
  )
}
