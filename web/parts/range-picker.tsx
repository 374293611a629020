import { Select } from '@mantine/core'
import { RANGES } from '../filter.js'
import { useAddress } from './place.js'

/** The time range of a list, in the address as `range`. */
export const RangePicker = () => {
  const [{ range = '' }, setAddress] = useAddress()
  const isCustom = !RANGES.some(([value]) => value === range)
  return (
    <Select
      size="xs"
      aria-label="Time range"
      allowDeselect={false}
      value={range}
      data={[
        ...RANGES.map(([value, label]) => ({ value, label })),
        ...(isCustom ? [{ value: range, label: range.replaceAll('T00:00:00.000Z', '') }] : []),
      ]}
      onChange={(value) => setAddress({ range: value ?? '' })}
      w={140}
    />
  )
}
