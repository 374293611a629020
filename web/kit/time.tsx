import { clockTime, shownTime } from './format.js'
import { useZone } from './settings.js'

/** A moment: relative within a day, exact in two zones on hover. */
export const Time = ({ at }: { readonly at: string | number | null }) => {
  const zone = useZone()
  if (at === null) return <span className="secondary">—</span>
  const milliseconds = typeof at === 'number' ? at : Date.parse(at)
  const iso = new Date(milliseconds).toISOString()
  return (
    <time dateTime={iso} title={`${clockTime(milliseconds, zone)} ${zone}\n${iso}`}>
      {shownTime(milliseconds, zone)}
    </time>
  )
}
