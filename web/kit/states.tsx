import { Button } from '@mantine/core'
import { useEffect, useState, type ReactNode } from 'react'
import { ApiError } from './api.js'

export const messageOf = (error: unknown): string =>
  error instanceof ApiError
    ? error.message
    : error instanceof TypeError
      ? 'The service cannot be reached. Check that it is running.'
      : String(error)

/** What failed and what to do, in place of a block of the page. */
export const Failed = ({
  error,
  what,
  onRetry,
}: {
  readonly error: Error
  readonly what: string
  readonly onRetry?: () => void
}) => {
  const known = error instanceof ApiError ? error : undefined
  const isMissing = known?.status === 404
  const isForbidden = known?.status === 403
  return (
    <div className="notice" role="alert" data-tone={isMissing || isForbidden ? undefined : 'danger'}>
      <strong>
        {isMissing
          ? `${what} was not found`
          : isForbidden
            ? 'Your roles do not allow this'
            : `${what} could not be loaded`}
      </strong>
      <div>
        {isMissing
          ? 'It does not exist, was deleted, or belongs to a team you are not in.'
          : messageOf(error)}
      </div>
      {isForbidden && <div>The team&apos;s administrators can give you the role under Team settings.</div>}
      {known !== undefined && !isMissing && !isForbidden && (
        <div className="secondary mono">
          {known.status} · request {known.requestId}
        </div>
      )}
      {(known?.status === 413 || known?.status === 504) && (
        <div>Choose a shorter time range or more filters.</div>
      )}
      {onRetry !== undefined && !isMissing && !isForbidden && (
        <Button mt={8} size="compact-sm" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** Why an action was not carried out; nothing if it was. */
export const ActionFailed = ({ error, what }: { readonly error: Error | null; readonly what: string }) =>
  error !== null && (
    <div className="notice" role="alert" data-tone="danger">
      <strong>{what} failed</strong>
      <div>{messageOf(error)}</div>
      {error instanceof ApiError && (
        <div className="secondary mono">
          {error.status} · request {error.requestId}
        </div>
      )}
    </div>
  )

/** Shows nothing for the first 150 ms, so that quick answers do not flicker. */
export const Loading = ({ what }: { readonly what: string }) => {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="secondary" role="status" style={{ minHeight: 32 }}>
      {isShown ? `Loading ${what} …` : ''}
    </div>
  )
}

const SLOW_MS = 1000

interface SearchingProps {
  readonly isOn: boolean
  /** The user stopped it before it had an answer. */
  readonly isStopped: boolean
  readonly onStop: () => void
  readonly onRetry: () => void
  readonly children: ReactNode
}

/** The last line of a list: its children, or after a second of waiting the way to stop the search. */
export const Searching = ({ isOn, isStopped, onStop, onRetry, children }: SearchingProps) => {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    if (!isOn) return setSlow(false)
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [isOn])
  const action = (label: string, act: () => void) => (
    <Button size="compact-xs" variant="default" onClick={act}>
      {label}
    </Button>
  )
  return (
    <div className="bar secondary" role="status" style={{ marginTop: 'auto', minHeight: 24 }}>
      {isStopped ? (
        <>The search was stopped. {action('Search again', onRetry)}</>
      ) : isSlow ? (
        <>Still searching … {action('Cancel', onStop)}</>
      ) : (
        children
      )}
    </div>
  )
}

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="notice">
    <strong>{title}</strong>
    {children !== undefined && <div>{children}</div>}
  </div>
)
