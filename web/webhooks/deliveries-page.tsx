import { Select } from '@mantine/core'
import { DeliveryList } from './delivery-list.js'
import { useAddress, usePlace } from '../kit/place.js'
import { RangePicker } from '../kit/range-picker.js'
import { SearchBox } from '../kit/search-box.js'
import { useAutomations, useWebhooks } from '../kit/team-data.js'
import { useEventTypes } from '../automations/event-types.js'
import { useRights } from '../kit/session.js'
import { useTitle } from '../kit/title.js'

/** The log of what was sent, with filters in the address. */
export const DeliveriesPage = () => {
  const { team } = usePlace()
  const { canAutomate } = useRights(team)
  useTitle('Deliveries')
  const [{ webhook = '', automation = '', event_type = '', source_event = '' }, setAddress] = useAddress()
  const webhooks = useWebhooks(team, canAutomate)
  const automations = useAutomations(team)
  const events = useEventTypes()
  const picker = (label: string, name: string, value: string, data: readonly Choice[]) => (
    <Select
      size="xs"
      aria-label={label}
      placeholder={`Any ${label.toLowerCase()}`}
      clearable
      searchable
      value={value === '' ? null : value}
      data={
        value === '' || data.some((one) => one.value === value) ? data : [...data, { value, label: value }]
      }
      onChange={(chosen) => setAddress({ [name]: chosen ?? '' })}
      w={180}
    />
  )
  return (
    <div className="page">
      <h1>Deliveries</h1>
      <div className="bar" role="search">
        <SearchBox label="Search in the messages" />
        <RangePicker />
        {picker('Webhook', 'webhook', webhook, (webhooks.data?.data ?? []).map(choiceOf))}
        {picker('Automation', 'automation', automation, (automations.data?.data ?? []).map(choiceOf))}
        {picker(
          'Event',
          'event_type',
          event_type,
          (events.data?.data ?? []).map(({ type }) => ({ value: type, label: type })),
        )}
        {source_event !== '' && (
          <button type="button" className="chip" onClick={() => setAddress({ source_event: '' })}>
            <span>Event id {source_event}</span>
            <span aria-hidden="true">×</span>
            <span className="visually-hidden">Remove this condition</span>
          </button>
        )}
      </div>
      <DeliveryList team={team} canAct={canAutomate} />
    </div>
  )
}

interface Choice {
  readonly value: string
  readonly label: string
}

const choiceOf = ({ id, name }: { readonly id: string; readonly name: string }): Choice => ({
  value: id,
  label: name,
})
