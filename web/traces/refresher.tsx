import { Button } from '@mantine/core'
import { useState } from 'react'
import { usePosition } from '../kit/live.js'

/** Offers the newer state of a running trace, without moving what is read. */
export const Refresher = ({
  projectId,
  onRefresh,
}: {
  readonly projectId: string
  readonly onRefresh: () => void
}) => {
  const position = usePosition(projectId, true)
  const [seen, setSeen] = useState(position)
  if (seen === undefined && position !== undefined) setSeen(position)
  if (position === undefined || seen === undefined || position === seen) return null
  return (
    <Button
      size="compact-xs"
      variant="default"
      onClick={() => {
        setSeen(position)
        onRefresh()
      }}
    >
      Show what is new
    </Button>
  )
}
