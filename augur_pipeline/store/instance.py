"""Opening the Dagster instance of a home: its history of runs."""

from dagster import DagsterInstance
from filelock import FileLock
from sqlalchemy.exc import SQLAlchemyError

from augur_pipeline.errors import AugurError
from augur_pipeline.home import Home


def open_instance(home: Home) -> DagsterInstance:
    """The instance, made where there is none yet; raises `AugurError` where it cannot be used."""
    try:
        settings = home.prepare_instance()
        # the first runs of a home must not set up Dagster's storage at one time
        with FileLock(settings / "setup.lock"):
            return DagsterInstance.from_config(str(settings))
    except (SQLAlchemyError, OSError) as error:
        raise unusable_history(home, error) from error
    except Exception as error:
        # what is wrong in the file shows in many ways: YAML, Dagster's schema, a class to import
        first_line = next(iter(str(error).strip().splitlines()), repr(error))
        raise AugurError(
            f"{settings / 'dagster.yaml'}: no settings of Dagster ({first_line}); mend it, or "
            "remove it and it is written anew"
        ) from error


def unusable_history(home: Home, error: Exception) -> AugurError:
    """The error of a history that cannot be written."""
    first_line = str(error).strip().splitlines()[0]
    return AugurError(
        f"{home.dagster}: the run's history cannot be written ({first_line}); check disk space and "
        "permissions, then run again"
    )
