import { Button, Modal, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { BOUNDED_RANGES, neighbourRange, rangeOf, RANGES } from './range.js'
import { clockTime, instantAt, wallTime, type Zone } from './format.js'
import { useKeys } from './keys.js'
import { onSubmit } from './on-submit.js'
import { useAddress } from './place.js'
import { useZone } from './settings.js'

const CUSTOM = 'custom'
const DAY_MS = 86_400_000

/**
 * The time range of a page, in the address as `range`, and the zone of its times. With an `initial` range, the page needs a
 * start.
 */
export const RangePicker = ({ initial = '' }: { readonly initial?: string }) => {
  const [{ range: chosen = '' }, setAddress] = useAddress()
  const range = chosen === '' ? initial : chosen
  const ranges = initial === '' ? RANGES : BOUNDED_RANGES
  const zone = useZone()
  const [isEdited, setEdited] = useState(false)
  const isCustom = !ranges.some(([value]) => value === range)
  const move = (step: -1 | 1) => {
    const next = neighbourRange(range, step, Date.now())
    if (next !== undefined) setAddress({ range: next })
  }
  useKeys({ '[': () => move(-1), ']': () => move(1) })
  return (
    <>
      <Select
        size="xs"
        aria-label="Time range"
        allowDeselect={false}
        value={range}
        data={[
          ...ranges.map(([value, label]) => ({ value, label })),
          ...(isCustom ? [{ value: range, label: rangeText(range, zone) }] : []),
          { value: CUSTOM, label: 'From … to …' },
        ]}
        onChange={(value) => (value === CUSTOM ? setEdited(true) : setAddress({ range: value ?? '' }))}
        w={isCustom ? 280 : 140}
      />
      <span className="secondary only-wide">{zone}</span>
      <Modal opened={isEdited} onClose={() => setEdited(false)} title="Time range">
        <RangeForm
          range={range}
          zone={zone}
          onDone={(next) => {
            setAddress({ range: next })
            setEdited(false)
          }}
        />
      </Modal>
    </>
  )
}

const rangeText = (range: string, zone: Zone): string => {
  const { from, to } = rangeOf(range, Date.now())
  const text = (time: string | undefined) => (time === undefined ? '' : clockTime(Date.parse(time), zone))
  return `${text(from)} – ${text(to)}`
}

interface RangeFormProps {
  readonly range: string
  readonly zone: Zone
  readonly onDone: (range: string) => void
}

const RangeForm = ({ range, zone, onDone }: RangeFormProps) => {
  const [first] = useState(() => {
    const now = Date.now()
    const { from = new Date(now - DAY_MS).toISOString(), to = new Date(now).toISOString() } = rangeOf(
      range,
      now,
    )
    return [from, to].map((time) => wallTime(Date.parse(time), zone)) as [string, string]
  })
  const [[from, to], setTimes] = useState(first)
  const isEmpty = from !== '' && to !== '' && from >= to
  const submit = onSubmit(() => {
    if (isEmpty) return
    const text = (wall: string) => (wall === '' ? '' : new Date(instantAt(wall, zone)).toISOString())
    onDone(from === '' && to === '' ? '' : `${text(from)}..${text(to)}`)
  })
  return (
    <form className="form" onSubmit={submit}>
      <TextInput
        type="datetime-local"
        step={1}
        label={`From (${zone})`}
        data-autofocus
        value={from}
        onChange={(event) => setTimes([event.currentTarget.value, to])}
      />
      <TextInput
        type="datetime-local"
        step={1}
        label={`To (${zone})`}
        value={to}
        error={isEmpty ? 'The end must be after the start.' : undefined}
        onChange={(event) => setTimes([from, event.currentTarget.value])}
      />
      <Button type="submit">Apply</Button>
    </form>
  )
}
