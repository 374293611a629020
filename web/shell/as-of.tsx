import { Button, Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAsOf, usePositionAsOf } from '../kit/as-of.js'
import { clockTime, instantAt, wallTime, wholeNumber } from '../kit/format.js'
import { onSubmit } from '../kit/on-submit.js'
import { useAddress } from '../kit/place.js'
import { useZone } from '../kit/settings.js'

const POSITION = /^\d{1,18}$/

/** Says that the page shows an earlier state, and leads back to the present. */
export const AsOfBanner = ({ onChange }: { readonly onChange: () => void }) => {
  const asOf = useAsOf()
  const position = usePositionAsOf()
  const [, setAddress] = useAddress()
  const zone = useZone()
  if (asOf === '') return null
  const isPosition = POSITION.test(asOf)
  const time = Date.parse(asOf)
  const shown = isPosition || Number.isNaN(time) ? '' : clockTime(time, zone)
  const at = isPosition ? asOf : position
  return (
    <div className="as-of" role="status">
      <strong>
        As of {shown}
        {shown !== '' && ` ${zone}`}
        {shown !== '' && at !== undefined && ', '}
        {at !== undefined && `position ${wholeNumber(Number(at))}`}
      </strong>
      <Button size="compact-xs" variant="default" onClick={() => setAddress({ as_of: '' })}>
        Back to now
      </Button>
      <Button size="compact-xs" variant="default" onClick={onChange}>
        Change
      </Button>
      <span className="secondary">
        Budgets, saved views and exports are of the present, and what you write is written now.
      </span>
    </div>
  )
}

/** Asks for the time or the position that the page is read as of. */
export const AsOfDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const asOf = useAsOf()
  const [, setAddress] = useAddress()
  const zone = useZone()
  const [position, setPosition] = useState(POSITION.test(asOf) ? asOf : '')
  const [time, setTime] = useState(() => {
    const given = POSITION.test(asOf) ? NaN : Date.parse(asOf)
    return wallTime(Number.isNaN(given) ? Date.now() : given, zone)
  })
  const isWrong = position !== '' && !POSITION.test(position)
  const submit = onSubmit(() => {
    if (isWrong || (position === '' && time === '')) return
    setAddress({ as_of: position === '' ? new Date(instantAt(time, zone)).toISOString() : position })
    onClose()
  })
  return (
    <Modal opened onClose={onClose} title="As of an earlier time">
      <form className="form" onSubmit={submit}>
        <div>Calls, threads, usage and evaluations are shown as they were then.</div>
        <TextInput
          label={`Time (${zone})`}
          type="datetime-local"
          step={1}
          data-autofocus
          value={time}
          onChange={(event) => setTime(event.currentTarget.value)}
        />
        <TextInput
          label="Or a position of the log"
          description="Each event in the history has one."
          inputMode="numeric"
          value={position}
          error={isWrong && 'A position has only digits.'}
          onChange={(event) => setPosition(event.currentTarget.value.trim())}
        />
        <div className="bar">
          <Button type="submit">Show</Button>
          {asOf !== '' && (
            <Button
              variant="default"
              onClick={() => {
                setAddress({ as_of: '' })
                onClose()
              }}
            >
              Back to now
            </Button>
          )}
        </div>
      </form>
    </Modal>
  )
}
