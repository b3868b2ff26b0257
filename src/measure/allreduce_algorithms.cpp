#include "measure/allreduce_algorithms.hpp"

#include <array>
#include <cstdlib>

namespace shardline {

AllreduceAlgorithms::AllreduceAlgorithms(MPI_Comm work) : work_(work)
{
    int provided = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
    int index = 0;
    if (MPI_T_cvar_get_index("coll_tuned_allreduce_algorithm", &index) != MPI_SUCCESS) return;
    std::array<char, 256> name{}, description{};
    int name_length = name.size(), description_length = description.size(), verbosity = 0, binding = 0, scope = 0, count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum choices = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &type, &choices, description.data(), &description_length, &binding, &scope) !=
            MPI_SUCCESS ||
        choices == MPI_T_ENUM_NULL || type != MPI_INT || (scope != MPI_T_SCOPE_ALL && scope != MPI_T_SCOPE_ALL_EQ))
        return;
    int choices_count = 0;
    name_length = name.size();
    if (MPI_T_enum_get_info(choices, &choices_count, name.data(), &name_length) != MPI_SUCCESS) return;
    for (int i = 0; i < choices_count; ++i) {
        int value = 0;
        name_length = name.size();
        if (MPI_T_enum_get_item(choices, i, &value, name.data(), &name_length) == MPI_SUCCESS && value != 0) values_[name.data()] = value;
    }
    if (MPI_T_cvar_handle_alloc(index, nullptr, &variable_, &count) != MPI_SUCCESS) values_.clear();
}

AllreduceAlgorithms::~AllreduceAlgorithms()
{
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized) return;
    for (auto& [name, communicator] : communicators_) MPI_Comm_free(&communicator);
    if (variable_ != nullptr) MPI_T_cvar_handle_free(&variable_);
    MPI_T_finalize();
}

std::vector<std::string> AllreduceAlgorithms::names() const
{
    std::vector<std::string> names;
    for (const auto& [name, value] : values_) names.push_back(name);
    return names;
}

MPI_Comm AllreduceAlgorithms::communicator(const std::string& name)
{
    const auto [place, is_new] = communicators_.try_emplace(name, MPI_COMM_NULL);
    if (!is_new) return place->second;
    const auto value = values_.find(name);
    const auto choose = [&](int choice) {
        if (variable_ != nullptr) MPI_T_cvar_write(variable_, &choice);
    };
    choose(value == values_.end() ? 0 : value->second);
    MPI_Comm_dup(work_, &place->second);
    MPI_Comm_set_name(place->second, ("shardline " + (name.empty() ? "default" : name)).c_str());
    choose(0); // those that are made later choose for themselves
    return place->second;
}

void allow_allreduce_algorithms() { setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0); }

} // namespace shardline
